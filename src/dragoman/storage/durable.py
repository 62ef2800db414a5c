"""Files that are whole or not there, and JSON that knows when it was changed."""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


def write_durably(path: Path, content: bytes) -> str:
    """Write a new file through to the disk and return its SHA-256."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return hashlib.sha256(content).hexdigest()


def replace_durably(path: Path, content: bytes) -> None:
    """Put a file in the place of an older one, so that at every moment one of both is whole."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.unlink(missing_ok=True)
        write_durably(temporary, content)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def checksum_of(path: Path) -> str:
    """Return the SHA-256 of a file, which is read a part at a time."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_folder(folder: Path) -> None:
    """Write the names in a folder through to the disk, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sealed(content: Mapping[str, Any]) -> bytes:
    """Return JSON that holds its own checksum."""
    return json.dumps({**content, "sha256": _checksum(content)}, indent=1).encode()


def unsealed(sealed_content: bytes) -> dict[str, Any]:
    """Return what was sealed.

    Raises:
        ValueError: It is not what ``sealed`` has returned.
    """
    content = json.loads(sealed_content)
    if not isinstance(content, dict):
        raise ValueError("it holds no object")
    if content.pop("sha256", None) != _checksum(content):
        raise ValueError("its checksum is not the one it was saved with")
    return content


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
