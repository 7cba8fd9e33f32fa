"""fetch: bytes from the network."""
