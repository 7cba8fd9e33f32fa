"""resilience: how not to hurt a host, or ourselves?"""
