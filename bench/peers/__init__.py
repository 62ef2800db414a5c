"""Rivals of the training benchmark: how each is installed, built and given the same batches."""
