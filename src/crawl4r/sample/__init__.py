"""sample: what can a newcomer crawl with no network?"""
