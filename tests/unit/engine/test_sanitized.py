"""The native code under the sanitizers of the compiler."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.engine.build import BuildError, build

HERE = Path(__file__).parent
CHECKED = [
    HERE / "test_engine.py",
    HERE / "test_packed.py",
    HERE / "test_shortlist.py",
    *(
        HERE.parents[1] / "properties" / f"test_{name}.py"
        for name in ("shortlist", "refill", "native_search")
    ),
]

OPTIONS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-g", "-O1")

RUN = """
import sys
from pathlib import Path
import dragoman.engine.library as library
library.places = lambda: [Path(sys.argv[1])]
import pytest
raise SystemExit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *sys.argv[2:]]))
"""


@pytest.mark.full
def test_no_memory_is_misused(tmp_path: Path) -> None:
    """Models of all kinds and odd sizes, at every precision: no access outside an array."""
    try:
        build(tmp_path, options=OPTIONS)
        found = [
            subprocess.run(["c++", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
            for name in ("libasan.so", "libstdc++.so")
        ]
    except (BuildError, OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no compiler with sanitizers: {error}")
    libraries = ":".join(one.stdout.strip() for one in found)
    environment = os.environ | {"LD_PRELOAD": libraries, "ASAN_OPTIONS": "detect_leaks=0"}
    ended = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path), *map(str, CHECKED)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE.parents[2],
    )

    assert ended.returncode == 0, ended.stdout[-3_000:] + ended.stderr[-3_000:]
    assert "passed" in ended.stdout
