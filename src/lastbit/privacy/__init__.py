"""The cost of a release: epsilon or eta, and the rate of the noise that a cost buys."""
