"""Traces of my-agent for turncurve, and a signal of our own."""
