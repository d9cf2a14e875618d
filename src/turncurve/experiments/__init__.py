"""New runs, made on purpose: of stages, of whole tasks, and with something changed."""
