"""Tables that agree with each other: the mechanism, and its release."""
