"""settings: what was it told?"""
