"""What a crash, a full disk and a flipped bit leave behind."""

import sys

# So that a failed assertion of the shared checks shows its values. `inject` runs without pytest.
if "pytest" in sys.modules:
    sys.modules["pytest"].register_assert_rewrite("tests.faults.whole")
