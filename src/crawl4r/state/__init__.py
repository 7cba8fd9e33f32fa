"""state: how do rows outlive the process?"""
