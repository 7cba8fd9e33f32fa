"""discovery: which URLs does this document name?"""
