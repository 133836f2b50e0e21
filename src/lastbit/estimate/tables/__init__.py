"""Tables that agree: least squares in closed form, exact variances, certified intervals, and the shares of a budget."""
