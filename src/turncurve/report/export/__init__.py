"""Runs and their signals in formats that other tools read."""
