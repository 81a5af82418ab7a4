"""The functions of ir_eval_numba, without numba.

    from goldrank.compat.ir_eval_numba.metrics import recall

The module is named as theirs; everything can be imported from the package, too.

The order of arguments is (actual, predicted, k): the relevant ids come first. Ids are integers of any dtype.
`k` past the end of `predicted` means all of it, as the docstrings of the original promise; the original reads
foreign memory there. A query without a relevant id, or without a hit, scores 0, where the original divides by
zero. nDCG of a ranking that repeats ids stops at 1.

`as_released=True` also takes k <= 0 as the original does, wherever that has a result from 0 to 1: `recall` cuts with
Python's slice, `reciprocal_rank` and `mean_reciprocal_rank` see nothing and give 0, and `find_relevant_indices` finds
nothing. The other functions have no such result: `precision` and `f1_score` divide by k (division by zero at 0,
negative values below), `average_precision`, `mean_average_precision` and `ndcg` divide by the nothing that they see.
They take `as_released` and refuse k <= 0 with it, too.
"""

from goldrank.compat.ir_eval_numba.metrics import *  # noqa: F403 (the module says what is public)
from goldrank.compat.ir_eval_numba.metrics import __all__ as __all__
