"""postgres: how do many machines share one ledger?"""
