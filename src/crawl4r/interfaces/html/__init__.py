"""html: how does a report look as a page?"""
