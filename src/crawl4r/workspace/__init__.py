"""workspace: how is a crawl held, stopped and searched from Python?"""
