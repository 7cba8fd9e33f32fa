"""json: which shape has an answer?"""
