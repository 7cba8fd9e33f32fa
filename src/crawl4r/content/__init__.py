"""content: is it a page, and what does it say?"""
