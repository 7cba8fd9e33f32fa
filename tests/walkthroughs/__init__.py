"""walkthroughs: do the commands that the documents show work, as they stand there?"""
