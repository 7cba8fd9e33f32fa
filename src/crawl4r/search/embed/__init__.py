"""embed: which vector has this text?"""
