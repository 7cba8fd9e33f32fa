"""recovery: how does a lost state.db come back from what is left?"""
