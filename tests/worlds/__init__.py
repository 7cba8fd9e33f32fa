"""worlds: which sites does a crawler meet, and what is the truth about them?

Each world is generated from a few parameters and a seed, so that a test can ask the world itself what
there is to be found (`truth`) and compare it with what a crawl found. `process.WorldProcess` serves
one in a process of its own, with the access log of `tests.site`. Between a crawler and any site
stands, if a test wants it, a `fault_proxy.FaultProxy`; `own_network.OwnNetwork` has names that fail.
"""
