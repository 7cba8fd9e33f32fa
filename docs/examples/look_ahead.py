"""What a crawl would take, and which URLs a site names, before anything is kept."""

import crawl4r

for found in crawl4r.map("https://example.org/")[:5]:
    print(found.source, found.url)
plan = crawl4r.plan("https://example.org/", sample=10)
print(plan["pages"]["estimate"], "pages in", plan["hours"], "hours")
