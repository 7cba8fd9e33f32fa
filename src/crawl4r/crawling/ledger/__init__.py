"""ledger: what is durable of crawls, and to whom does a host belong?"""
