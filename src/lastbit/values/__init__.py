"""Private values: on a grid, with public facts about them."""
