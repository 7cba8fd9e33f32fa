"""Properties: what holds for every input, looked for by Hypothesis, the same inputs each time."""

from hypothesis import settings

steady = settings(derandomize=True, database=None, deadline=None, max_examples=400)
