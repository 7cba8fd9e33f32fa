"""transfer: how does it come in from, and go out to, other tools?"""
