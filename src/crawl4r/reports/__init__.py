"""reports: what happened, why, and how far is it?"""
