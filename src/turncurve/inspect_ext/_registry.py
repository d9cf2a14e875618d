"""What Inspect and Scout load by the entry point `turncurve`.

They load it beside every evaluation on the machine, so that nothing is imported here that the
evaluation does not use: the hook only where it is switched on, the scanner only where Scout runs.
"""

import sys

from turncurve.inspect_ext import *  # noqa: F403 - registering is what importing them does
from turncurve.inspect_ext.switches import is_on

if is_on():
    import turncurve.inspect_ext.live_hook

if "inspect_scout" in sys.modules:
    import turncurve.inspect_ext.scout  # noqa: F401
