"""keyword: which passages have these words?"""
