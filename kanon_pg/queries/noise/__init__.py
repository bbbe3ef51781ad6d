"""Noisy answers: differential privacy for whole people, over the same blocks, with an account.

`settings` is what a curator says; `numbers` and `plan` make a block's SQL, whose whole numbers one person
changes by a known distance; `mechanism` asks OpenDP for noise and for what it costs; `drawing` makes rows of
noisy numbers; `accounts` shows what was spent. `docs/noise.md` has the theorem.
"""
