"""pagination: where is the next page of this list?"""
