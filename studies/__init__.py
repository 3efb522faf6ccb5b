"""Studies: what single runs do not tell. One file a study, named as its JSON in results/studies."""
