"""The book in Colab, and copies of it with an address of their own."""
