"""Models that translate inside a page or a notebook."""
