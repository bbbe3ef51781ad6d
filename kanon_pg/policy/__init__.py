"""A policy: what a database of kanon is to have, as one file that people review.

`document` says what form it has; `file` reads, checks and writes it; `existing` says what a database has, in
the same form; `differences` compares the two; `applying` carries the differences out.
"""
