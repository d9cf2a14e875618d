"""Where turns meet statistics: one question, one function, one frozen result."""
