"""The floors of the house hold."""

import subprocess
import sys
from pathlib import Path

from importlinter.cli import lint_imports


def test_no_module_imports_from_its_own_floor_or_above(root: Path) -> None:
    """The contracts of pyproject.toml are kept; the report above names each import that breaks one."""
    code = lint_imports(config_filename=str(root / "pyproject.toml"), no_cache=True)

    assert code == 0


def test_the_command_line_starts_without_torch() -> None:
    """Help and version answer at once, because torch is imported inside commands only."""
    script = "import sys, dragoman.cli; sys.exit('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (result.returncode, result.stderr) == (0, "")
