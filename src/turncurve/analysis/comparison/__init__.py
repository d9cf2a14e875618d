"""Two conditions compared, paired by scenario."""
