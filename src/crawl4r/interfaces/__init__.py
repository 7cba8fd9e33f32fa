"""interfaces: how do people and programs come in?"""
