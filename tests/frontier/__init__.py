"""Which URL next? Here: which known page is visited again."""
