"""compare: what is the same, and what has changed?"""
