"""Memory that stays with the process."""

import subprocess
import sys

import pytest

from dragoman.run.allocator import give_back_freed_memory, keep_freed_memory

FAULTS = """
import resource, torch
from dragoman.run.allocator import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(2**24)  # 64 MiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

given_back = min(faults() for _ in range(4))
told = keep_freed_memory()
# glibc may first keep up to 7 cut-off ends of a block apart from it, and then needs as many new blocks
print(given_back, min(faults() for _ in range(24)), told)
"""


def measured(script: str) -> tuple[int, int]:
    """Run a script in a process of its own, and return the two numbers before its last word."""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, second, told = answer.stdout.split()
    if told == "False":
        pytest.skip("this C library cannot be told so")
    return int(first), int(second)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc can be told so")
def test_freed_memory_is_used_again() -> None:
    """A block that was freed is taken again without fetching its 16,384 pages from the system once more."""
    given_back, kept = measured(FAULTS)

    assert given_back > 100  # as many as huge pages leave
    assert kept < given_back / 10


HELD = """
import torch
from dragoman.run.allocator import give_back_freed_memory, keep_freed_memory

def held():
    [line] = [line for line in open("/proc/self/status") if line.startswith("VmRSS")]
    return int(line.split()[1])

keep_freed_memory()
blocks = [torch.ones(2**20) for _ in range(100)]  # 4 MiB each
del blocks[:98]
before = held()
told = give_back_freed_memory()
print(before, held(), told)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc can be told so")
def test_what_is_free_is_given_back_when_asked() -> None:
    """Also below blocks that are still used: 392 MiB here."""
    before, after = measured(HELD)

    assert before - after > 300 * 1_024


@pytest.mark.skipif(sys.platform.startswith("linux"), reason="of other systems")
def test_other_systems_are_left_alone() -> None:
    """Where there is no glibc nothing is done, and it is said."""
    assert not keep_freed_memory()
    assert not give_back_freed_memory()
