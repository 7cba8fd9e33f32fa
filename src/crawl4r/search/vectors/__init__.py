"""vectors: which passages are near in meaning?"""
