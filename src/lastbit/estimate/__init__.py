"""Better numbers from what was released: post-processing, which costs nothing."""
