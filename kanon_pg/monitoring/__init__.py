"""How releases and protected tables are, and what was done to them.

`states` reads the views of both as rows. `open_metrics` makes metrics of them, for a scraper.
"""
