"""The state after a crash, on a full disk and with a flipped bit."""

import sys

# So that a failed assertion of the shared checks shows its values. `inject` runs without pytest.
if "pytest" in sys.modules:
    sys.modules["pytest"].register_assert_rewrite("tests.faults.whole")
