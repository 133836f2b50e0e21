"""Post-processing: what a release is worth, exactly."""
