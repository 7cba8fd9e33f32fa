"""resilience: is it still alive, and what if not?"""
