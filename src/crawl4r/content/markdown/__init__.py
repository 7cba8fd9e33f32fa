"""markdown: how is it written as markdown?"""
