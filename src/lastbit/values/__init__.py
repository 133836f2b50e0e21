"""Private values: on a grid, with what is known about them."""
