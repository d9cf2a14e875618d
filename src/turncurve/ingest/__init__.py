"""Paths to a turn table: readers and observed signals put together."""
