"""blobs: where are the bytes?"""
