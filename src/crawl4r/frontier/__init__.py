"""frontier: which URL next?"""
