"""A crawl indexes and explores by default; most tests look at something else, and at every request."""

import os

os.environ.setdefault("CRAWL4R_INDEX__ENABLED", "false")
os.environ.setdefault("CRAWL4R_EXPLORE__ENABLED", "false")
