"""wiring: who is wired to whom?"""
