"""Recorded runs, the comparison of systems, and what the papers' claims came to."""
