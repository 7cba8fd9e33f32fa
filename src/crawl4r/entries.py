"""What the processes of the sandbox run, as `module:function`: by name, so that only they load it."""

READER = "crawl4r.reading_process:make_reader"
EXTRACTOR = "crawl4r.extracting:make_extractor"
EDGE_READER = "crawl4r.edges:make_edge_reader"
PAGE_FINDER = "crawl4r.discovery.pagination:make_finder"
COMPARER = "crawl4r.content.changes:make_comparer"
CUTTER = "crawl4r.cutting:make_cutter"
CHUNKER = "crawl4r.cutting:make_chunker"
