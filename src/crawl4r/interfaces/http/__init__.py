"""http: how do other machines ask?"""
