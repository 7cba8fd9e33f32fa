"""documents: how does a capture become a document?"""
