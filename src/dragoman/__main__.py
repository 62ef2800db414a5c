"""``python -m dragoman``."""

import os
import sys

from dragoman.cli import main

code = main()
if "RANK" in os.environ:
    # One of several ranks: the threads of their connection outlive it, and taking the interpreter down beside
    # them was seen to abort and to hang. All that is written is closed and flushed.
    sys.stderr.flush()
    os._exit(code)
sys.exit(code)
