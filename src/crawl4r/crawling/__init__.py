"""crawling: in which order is a page visited?"""
