"""lastbit at work: `make demo`."""

import lastbit as lb

rate = lb.Rate.from_epsilon("1/20")
print("exact geometric noise:", lb.Sampler().geometric(rate, size=8))
print(lb.DiscreteLaplace(epsilon="1/2").release([120, 45, 8]))
print(lb.audit.check(lb.DiscreteLaplace(epsilon="1/2"), [120], [121]))
