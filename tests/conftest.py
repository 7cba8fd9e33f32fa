"""A crawl indexes by default; most tests look at something else and need no embedder beside it."""

import os

os.environ.setdefault("CRAWL4R_INDEX__ENABLED", "false")
