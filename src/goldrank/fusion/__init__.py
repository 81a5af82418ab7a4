"""One run from several: normalisations, fusion methods, and tuning of their parameters."""

from goldrank.fusion.combine import fuse, normalize
from goldrank.fusion.methods import all_methods
from goldrank.fusion.normalisations import NORMALISATIONS
from goldrank.fusion.options import Fusion
from goldrank.fusion.tuning import TunedFusion, best_run, tune_fusion

__all__ = [
    "NORMALISATIONS",
    "Fusion",
    "TunedFusion",
    "all_methods",
    "best_run",
    "fuse",
    "normalize",
    "tune_fusion",
]
