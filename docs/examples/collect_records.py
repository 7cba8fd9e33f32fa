"""Fields of every page of a list, as JSON lines: the crawl follows the links to the next pages."""

import json

import crawl4r

with crawl4r.open("chapters") as workspace:
    for page in workspace.crawl("https://example.org/guide/robots.html", allow=["/guide/"]):
        for record in page.records("main", title="h1", first="p", image="img::attr(src)"):
            print(json.dumps({"url": page.url, **record}))
