"""processes: how can hostile input not hurt us?"""
