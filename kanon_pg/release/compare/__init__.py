"""What several releases of a table disclose together.

`composition` counts it; `side_by_side` tells those who publish. Nothing is changed.
"""
