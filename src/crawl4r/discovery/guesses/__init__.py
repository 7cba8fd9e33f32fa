"""guesses: which URLs are worth a try?"""
