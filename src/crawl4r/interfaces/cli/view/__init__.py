"""view: what does a person see?"""
