"""peers: the same job done by others, in a virtual environment of their own."""
