"""storage: how do rows and lines outlive the process?"""
