"""Web archives out and in, judged by other people's readers: warcio, fastwarc, cdxj-indexer, pywb."""
