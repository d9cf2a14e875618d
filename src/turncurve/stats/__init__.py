"""Arrays in, frozen result out: numpy and scipy only."""
