"""search: how is it found again?"""
