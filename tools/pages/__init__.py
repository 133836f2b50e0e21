"""Pages of the documentation that are the output of a run."""
