"""rank: which passage comes first, and what of it is shown?"""
