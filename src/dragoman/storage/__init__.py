"""What a run writes, so that it is whole or not there: files, checkpoints, and how far the run has come."""
