"""listings: which URLs do sitemaps, feeds and indexes name?"""
