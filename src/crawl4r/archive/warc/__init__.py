"""warc: how do other tools read and write captures?"""
