"""logs: which rows do analysts get, live or again?"""
