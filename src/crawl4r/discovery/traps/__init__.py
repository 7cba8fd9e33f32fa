"""traps: does this place make new URLs without end?"""
