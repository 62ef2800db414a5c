"""``python -m dragoman`` is the command ``dragoman``."""

import sys

from dragoman.cli import main

sys.exit(main())
