"""Do the CSV files say what state.db says, whatever happened on the way?"""

import sys

# So that a failed assertion of the shared checks shows its values.
if "pytest" in sys.modules:
    sys.modules["pytest"].register_assert_rewrite("tests.logs.tables")
