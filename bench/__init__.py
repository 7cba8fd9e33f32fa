"""bench: one command a figure, against peers, as ratios measured in one run."""
