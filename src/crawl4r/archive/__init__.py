"""archive: what did we see, forever?"""
