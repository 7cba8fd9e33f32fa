"""A site as an archive, as documents and as an index."""

import asyncio

import crawl4r


async def main() -> None:
    async with crawl4r.open("docs", contact="https://you.example/bot") as workspace:
        async for page in workspace.crawl("https://docs.example.org/", max_pages=500):
            print(page.status, page.title, len(page.markdown))
        await workspace.index_async()
        for hit in workspace.search("how do I keep robots.txt", limit=5):
            print(round(hit.score, 2), hit.url, hit.section, hit.text[:80])


asyncio.run(main())
