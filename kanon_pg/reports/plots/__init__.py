"""Figures. The only package that imports Matplotlib; nothing that runs in a server imports it."""
