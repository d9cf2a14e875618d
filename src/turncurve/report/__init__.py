"""A result to words and pictures."""
