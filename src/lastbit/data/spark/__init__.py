"""Tables of Spark, counted as jobs of its own expressions."""
