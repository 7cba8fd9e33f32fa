"""urls: what is this URL, and may we visit it?"""
