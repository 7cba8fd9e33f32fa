"""indexing: how does a document become an answer?"""
