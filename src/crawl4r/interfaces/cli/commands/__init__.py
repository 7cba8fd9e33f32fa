"""commands: what does a person type, and which call does it make?"""
