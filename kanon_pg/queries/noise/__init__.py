"""Noisy answers: differential privacy for persons, over the same blocks, with an account.

`answering` is the path; `numbers` and `plan` make a block's SQL, whose integers one person changes by a known
distance; `mechanism` asks OpenDP for noise and for what it costs; `drawing` makes rows of noisy numbers;
`accounts` shows what was spent. `docs/noise.md` has the theorem.
"""
