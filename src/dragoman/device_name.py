"""Names of what computes, checked without importing torch."""

import re

from dragoman.errors import UsageError

_NAME = re.compile(r"auto|cpu|cuda(:\d+)?")


def check_device_name(name: str) -> None:
    """Refuse what is not the name of a device.

    Raises:
        UsageError: It is none.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"--device {name}: must be auto, cpu, cuda or cuda:N", hint="see the GPUs with 'dragoman env'"
        )
