"""Noisy answers: differential privacy for whole people, over the same blocks, with an account."""
