"""Items that nobody listed: mechanisms that publish which items occur, and pay a delta for it.

Why it is private (docs/unknown-items.md has the rule). Say h' has one person more than h, who moves each value by 0 to
s, the sensitivity. Write t for the (k̄+1)-th value of h, and A and A' for the candidates.

1. *The bottom is monotone too.* Ordered values rise by 0 to s, so the bottom does.
2. *Who leaves is close to who enters.* Let i leave (in A, not in A') and j enter. In h, i is before j: hᵢ ≥ t ≥ hⱼ. So
   h'ⱼ ≤ t + s. In h', j is before i: h'ⱼ ≥ h'ᵢ ≥ hᵢ. So h'ⱼ - hᵢ is from 0 to s. As many enter as leave. Give each item
   that leaves the place of one that enters: then the two lists are neighbours of the monotone kind, entry by entry.
3. *So what does not name an item that left is private at epsilon.* Selection with gaps costs k·s·λ for monotone moves,
   and an item below the last published gap is never named.
4. *An item that left lies at least tau steps below the bottom in both data sets*: hᵢ ≤ h'ᵢ ≤ h'₍k̄₊₁₎ ≤ t + s. It is
   published only if its noise beats the bottom's by tau steps. For m such items that has a probability of at most
   m·r^tau/2 with exponential noise, and m·r^tau with the exponential mechanism.
5. *How many can leave*: with a fixed order, an item enters only if its own value rose. So m is at most the number of
   items that the person has, and at most k̄.

Delta is m·r^tau/2 (or m·r^tau) for the least tau that keeps it. On all other events the loss is at most epsilon, so
deltas add up in any composition.

*The gap lemma of step 3*, for one-sided exponential noise of rate λ: with selected i, cumulative gaps cᵢ above the
(k+1)-th, a = max(vᵢ - cᵢ), and m the level of the best loser, the density of an output is λ^k·e^(λ·Σ(vᵢ - cᵢ))·∫ from a
of e^(-λkm)·Σⱼ gⱼ(m) dm, where gⱼ is the density that loser j is the best, at m. Along v + x·d with 0 ≤ d ≤ 1 its
logarithm changes by λ·Σ dᵢ - λk·Σ dⱼwⱼ + Σ (dⱼ - dₐ)·xⱼ, with weights wⱼ that add up to 1, dₐ the d of the i that
attains a, and 0 ≤ xⱼ ≤ λ(k+1)wⱼ, because gⱼ(m) ≥ e^(-λ(m-a))·gⱼ(a) beyond a. Where dⱼ ≥ dₐ the terms of j are at most
λwⱼ·(dⱼ - (k+1)dₐ), otherwise at most 0. With Σ dᵢ ≤ k - 1 + dₐ the whole is at most λ(k - k·dₐ), or λ(k - 1 + dₐ): at
most λk. The lower bound -λk follows in the same way.

*The histogram*: an item of one person alone is published if noise of at least threshold - s steps comes, with
probability p; one of ℓ such items with 1 - (1-p)^ℓ. All other outcomes have the cost of the noise.
"""
