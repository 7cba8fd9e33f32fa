"""site: what does the worst web server in the world answer?

A local web site that tests crawl. Most of it behaves; the rest drops connections, lies about
lengths, loops, drips and explodes. It runs in its own process (`process.SiteProcess`), and its
access log is the proof of how politely it was asked.
"""
