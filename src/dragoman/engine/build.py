"""Builds the native library; needs a C++ compiler, and nothing of the package but its sources."""

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

SOURCES = Path(__file__).parent / "native"

COMMON = ("-std=c++17", "-O3", "-fPIC", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math")

_AVX512 = (
    *("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx512vnni", "-mfma"),
    "-mprefer-vector-width=512",
)

INSTRUCTION_SETS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "x86_64": {
        "avx512bf16": (*_AVX512, "-mavx512bf16"),
        "avx512": _AVX512,
        "avx2": ("-mavx2", "-mfma"),
        "plain": (),
    },
    "other": {"plain": ()},
}
"""Options for each table of inner loops, by machine."""

_MACHINES = {"amd64": "x86_64"}

_CHECKSUM_BYTES = 32


class BuildError(Exception):
    """There is no compiler, or it has failed."""


def library_name() -> str:
    """Return the name of the library that these sources make here: another one where anything is another."""
    digest = hashlib.sha256(repr((COMMON, INSTRUCTION_SETS)).encode())
    for source in sorted(SOURCES.iterdir()):
        if source.suffix in (".h", ".cpp"):
            digest.update(source.read_bytes())
    return f"libdragoman-{platform.system().lower()}-{_machine()}-{digest.hexdigest()[:12]}.so"


def _machine() -> str:
    machine = platform.machine().lower()
    return _MACHINES.get(machine, machine)


def is_whole(library: Path) -> bool:
    """Tell whether a library is as it was built; the last bytes of its file are a checksum of the others."""
    try:
        content = library.read_bytes()
    except OSError:
        return False
    return content[-_CHECKSUM_BYTES:] == hashlib.sha256(content[:-_CHECKSUM_BYTES]).digest()


def places() -> Sequence[Path]:
    """Return where the library may lie: in the package, or in the cache of the user."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        cache = given if given.is_absolute() else Path.home() / ".cache"
    except RuntimeError:  # a user without a home
        return [SOURCES]
    return [SOURCES, cache / "dragoman"]


def build(folder: Path, *, options: Sequence[str] = ()) -> Path:
    """Compile the library into a folder and return its path.

    Args:
        folder: Made if it does not exist.
        options: For the compiler, besides the usual ones.

    Raises:
        BuildError: There is no compiler, or it has failed.
        OSError: The folder cannot be written.
    """
    compiler = (
        shlex.split(os.environ.get("CXX", ""))
        or [name for name in ("c++", "g++", "clang++") if shutil.which(name)][:1]
    )
    if not compiler:
        raise BuildError("no C++ compiler was found (c++, g++ or clang++; CXX names another one)")
    if shutil.which(compiler[0]) is None:
        raise BuildError(f"CXX names {compiler[0]}, which is not there")
    tables = INSTRUCTION_SETS.get(_machine(), INSTRUCTION_SETS["other"])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".build-") as temporary:
        parts = [
            (SOURCES / "kernels.cpp", f"kernels-{name}.o", (f"-DISA={name}", *flags))
            for name, flags in tables.items()
        ]
        parts += [
            (source, f"{source.stem}.o", ())
            for source in sorted(SOURCES.glob("*.cpp"))
            if source.name != "kernels.cpp"
        ]
        objects = [str(Path(temporary) / name) for _, name, _ in parts]
        for (source, _, flags), target in zip(parts, objects, strict=True):
            _run([*compiler, *COMMON, *options, *flags, "-c", str(source), "-o", target])
        made = Path(temporary) / library_name()
        _run([*compiler, *options, "-shared", "-pthread", *objects, "-o", str(made)])
        content = made.read_bytes()
        made.write_bytes(content + hashlib.sha256(content).digest())
        return made.replace(folder / made.name)


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr.strip() or f"it ended with {done.returncode}").split("\n")
        first = next((line for line in lines if "error" in line), lines[0])
        raise BuildError(f"{command[0]} cannot compile the engine: {first}")
