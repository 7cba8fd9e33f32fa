"""A page that is at hand already: nothing is fetched."""

import crawl4r

html = "<title>Tides</title><h1>Tides</h1><p>High water comes at six. <a href='/moon'>Why?</a></p>"
page = crawl4r.extract(html, "https://example.org/tides")
print(page.verdict, page.title, page.text)
for link in page.links:
    print(link.url, link.text, link.section)
