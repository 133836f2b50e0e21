"""The cost of a release: epsilon or eta, rho, delta, how they convert, and the rate of the noise that a cost buys."""
