"""extract: what does the page say, and what does it say about itself?"""
