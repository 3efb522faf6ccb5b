"""Executes the notebooks and says whether what they store is still theirs."""
