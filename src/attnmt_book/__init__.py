"""What the chapters share: recorded runs, the truth rule, claims, plots."""
