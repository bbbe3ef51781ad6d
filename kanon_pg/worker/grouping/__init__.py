"""Classes of one column: intervals, sets of labels, regions, rectangles; `grouper` is the way in.

Each solver states guarantee and paper. Hierarchies use the same classes for their levels.
"""
