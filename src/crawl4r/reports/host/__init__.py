"""host: what did we ask of a host?"""
