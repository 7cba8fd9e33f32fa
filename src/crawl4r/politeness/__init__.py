"""politeness: how not to hurt a host?"""
