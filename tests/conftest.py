"""What holds for every test: while it runs, the shapes in names are watched (see ``shapes.py``)."""

from collections.abc import Generator
from pathlib import Path

import pytest

from shapes import watching
from tiny_runs import write_corpus

ROOT = Path(__file__).resolve().parents[1]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Run the test under the watch; the marker ``untraced`` leaves it out."""
    if item.get_closest_marker("untraced"):
        return (yield)
    with watching():
        return (yield)


@pytest.fixture
def root() -> Path:
    """The repository's folder."""
    return ROOT


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A small corpus that the runs of a module share, as two files."""
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def shared() -> Path:
    """The folder of reference data beside the repository; its tests are skipped where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the reference data (a folder 'shared' beside the repository) is not here")
    return folder
