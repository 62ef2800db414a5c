"""Builds the native engine while the package is installed or made a wheel.

Without a compiler the package has no engine, and PyTorch translates.
"""

import importlib.util
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EngineHook(BuildHookInterface[Any]):
    """Compiles the library into the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build, and call the wheel one of this platform where it holds a library."""
        path = Path(self.root, "src", "dragoman", "engine", "build.py")
        spec = importlib.util.spec_from_file_location("engine_build", path)
        assert spec is not None
        assert spec.loader is not None
        engine_build = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(engine_build)
        try:
            library = engine_build.SOURCES / engine_build.library_name()
            for other in set(engine_build.SOURCES.glob("*.so")) - {library}:
                other.unlink()
            if not engine_build.is_whole(library):
                engine_build.build(engine_build.SOURCES)
        except (engine_build.BuildError, OSError) as error:
            print(f"notice: dragoman is installed without its native engine: {error}", file=sys.stderr)
            return
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
