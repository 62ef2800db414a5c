"""What the package offers by name."""

import subprocess
import sys

import pytest

import dragoman


def run(program: str) -> None:
    """Run a program in a Python of its own, where nothing is imported yet."""
    subprocess.run([sys.executable, "-c", f"import sys\nsys.path[:] = {sys.path!r}\n{program}"], check=True)


def test_importing_the_package_costs_nothing() -> None:
    """``import dragoman`` imports neither torch nor any part of the package."""
    run(
        "import dragoman\n"
        "assert not [name for name in sys.modules if name == 'torch' or name.startswith('dragoman.')]\n"
        "assert set(dragoman.__all__) <= set(dir(dragoman))"
    )


@pytest.mark.parametrize("first", ["dragoman.run", "dragoman.train.step", "dragoman.evaluate"])
def test_functions_stand_before_parts_of_the_same_name(first: str) -> None:
    """``train`` and ``evaluate`` are the functions, whatever was imported before; the parts stay."""
    run(
        f"import warnings; warnings.simplefilter('error', ImportWarning)\n"
        f"import importlib; importlib.import_module({first!r})\n"
        "from dragoman import train, evaluate, Translator, TrainOptions, EvaluateOptions, Evaluation\n"
        "import dragoman.run\n"
        "assert (train, evaluate) == (dragoman.run.train, dragoman.run.evaluate)\n"
        "from dragoman.train.step import train_step\n"
        "from dragoman.evaluate import score\n"
        "assert (dragoman.train, dragoman.evaluate) == (train, evaluate)"
    )


def test_other_names_are_not_there() -> None:
    """A name that the package does not offer is an AttributeError."""
    with pytest.raises(AttributeError, match="no attribute 'Trainer'"):
        dragoman.Trainer  # noqa: B018
