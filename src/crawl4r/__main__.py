"""`python -m crawl4r`, for where the script is not on the path."""

from crawl4r.interfaces.cli.main import main

main()
