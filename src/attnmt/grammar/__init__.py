"""The German-English grammar behind the controlled corpus; `generate` says how it works."""
