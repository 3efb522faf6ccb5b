"""The book's figures."""
