"""The version of this package, where it can be read without loading anything else."""

__version__ = "0.1.0"
