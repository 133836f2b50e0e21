"""What a release costs: epsilon or eta, and the rate of the noise that a cost buys."""
