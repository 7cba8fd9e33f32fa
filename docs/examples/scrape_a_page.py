"""One page as markdown."""

import crawl4r

page = crawl4r.scrape("https://example.org/")
print(page.title, page.markdown)
