"""cli: what does a person or a script type?"""
