"""verdict: is this a page?"""
