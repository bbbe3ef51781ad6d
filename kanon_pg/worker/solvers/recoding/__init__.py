"""Local and full-domain recoding: classes that publish the most specific common generalization."""
