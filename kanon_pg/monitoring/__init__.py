"""How releases and protected tables are and what was done to them: as rows, and as metrics for a scraper."""
