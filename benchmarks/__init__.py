"""Speed and memory of passdown as ratios to a bare baseline in the same run. `python -m benchmarks --help`."""
