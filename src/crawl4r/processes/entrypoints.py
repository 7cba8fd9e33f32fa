"""The entry points of sandbox processes as `module:function`, so that only those load them."""

READER = "crawl4r.crawling.reading_process:make_reader"
EXTRACTOR = "crawl4r.documents.extractor:make_extractor"
EDGE_READER = "crawl4r.logs.edge_rows:make_edge_reader"
PAGE_FINDER = "crawl4r.discovery.pagination.finder:make_finder"
COMPARER = "crawl4r.content.compare.changes:make_comparer"
CUTTER = "crawl4r.indexing.cutter:make_cutter"
CHUNKER = "crawl4r.indexing.cutter:make_chunker"
