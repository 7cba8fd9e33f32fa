"""The GitHub profile on a site of ours that has GitHub's URLs."""
