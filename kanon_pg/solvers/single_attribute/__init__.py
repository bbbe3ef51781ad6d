"""Generalizes one attribute: values with weights become classes of at least k.

After Du, Eppstein, Goodrich and Lueker, "On the Approximability of Geometric and Geographic Generalization
and the Min-Max Bin Covering Problem" (2009), called the paper here. A value's *weight* is the number of
people (or rows) that have it, a class's *size* the sum of its weights. Classes are

- intervals of an ordered attribute (`intervals`): optimal,
- any groups of labels without order (`labels`): Theorems 7, 10 and 11, and exactly,
- connected regions of an adjacency graph (`regions`): Theorem 3,
- disjoint axis-parallel rectangles of points in the plane (`rectangles`): Theorem 4.

Every function takes arrays and returns a `result.SingleAttribute`: one class number per value, the cost, a
proven lower bound on the cost of every solution, and what found either.
"""
