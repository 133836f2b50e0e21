"""Tables in this process: pandas, Polars and PyArrow, counted in NumPy."""
