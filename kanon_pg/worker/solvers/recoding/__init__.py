"""Local and full-domain recoding: classes that publish the most specific common generalization.

`methods` is the way in, `task` and `forest` are a table with hierarchies as kernels see it. Suppression
alone is solved by the folders beside this one, of which `starts` and `refinement` make use.
"""
