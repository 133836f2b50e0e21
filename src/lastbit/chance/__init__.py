"""From random words to draws: bits, inversion, distributions, and the interpreters of a `Draw`."""
