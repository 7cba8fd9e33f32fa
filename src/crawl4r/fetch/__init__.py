"""fetch: what does the server answer?"""
