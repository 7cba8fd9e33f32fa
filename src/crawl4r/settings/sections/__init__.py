"""sections: which keys may be set, in which units, and what is the default?"""
