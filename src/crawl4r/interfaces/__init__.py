"""interfaces: the doors."""
