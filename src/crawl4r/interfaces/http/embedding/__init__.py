"""embedding: which vector has this text, for other machines?"""
