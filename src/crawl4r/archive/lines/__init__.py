"""lines: which line does each capture leave in a file?"""
