"""Parts of the reader of Inspect logs: archive, sample, agents, calls, usage, outcome, scores."""
