"""Runs and a rubric to grades, by a language model."""
