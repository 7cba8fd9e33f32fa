"""chunks: how is a document cut?"""
