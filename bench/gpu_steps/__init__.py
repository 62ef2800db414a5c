"""Steps of training as ``bench/gpu.py`` measures them, and the ceilings of the machine they run on."""
