"""What happened to a URL, what changed on a page, and everything in files for other programs."""

import crawl4r

with crawl4r.open("news") as workspace:
    run = workspace.crawl("https://docs.example.org/", depth=1)
    print(run.wait())  # why it ended
    workspace.crawl(refresh=True).wait()
    url = "https://docs.example.org/x"
    print(workspace.why(url)["state"])
    for entry in workspace.history(url):
        print(entry.capture_id, entry.change)
    print(workspace.diff(url).diff)
    print(workspace.status()["pages"], "pages")
    print(workspace.gc(keep_captures=3, dry_run=True).freed, "bytes that gc would free")
    print(workspace.export("jsonl", "news.jsonl", with_gone=True).documents, "documents")
    print(workspace.export("warc", "news.warc.gz").captures, "captures")
