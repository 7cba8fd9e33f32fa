"""links: which links does a page have, and which are new?"""
