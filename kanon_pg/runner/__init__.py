"""Runs a solver in a process of its own, so that whatever it does cannot harm the one that asked."""
