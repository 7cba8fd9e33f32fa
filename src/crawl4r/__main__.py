"""`python -m crawl4r`, for systems where the script is not on the path."""

from crawl4r.interfaces.cli.main import main

main()
