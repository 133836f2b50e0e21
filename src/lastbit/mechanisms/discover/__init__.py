"""Items that nobody listed: mechanisms that publish which items occur, and pay a delta for it."""
