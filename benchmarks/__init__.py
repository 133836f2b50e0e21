"""Ratios, measured side by side: `make bench`, or `python -m benchmarks NAME` for one of them."""
