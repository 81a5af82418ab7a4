"""ranx's names on goldrank: change `from ranx import ...` to `from goldrank.compat.ranx import ...`.

docs/migrating.md lists what differs, and why. `plot` and ranxhub are not here: goldrank draws its own curves and does
not use the network.
"""

from goldrank.compat.ranx.comparing import Report, compare
from goldrank.compat.ranx.data_structures import Qrels, Run
from goldrank.compat.ranx.evaluating import evaluate
from goldrank.compat.ranx.fusion import fuse, optimize_fusion
from goldrank.compat.ranx.normalization import normalize

__all__ = ["Qrels", "Report", "Run", "compare", "evaluate", "fuse", "normalize", "optimize_fusion"]
