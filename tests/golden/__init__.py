"""golden: do users still see what they saw?"""
