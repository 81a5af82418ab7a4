"""How right the statistics are, by simulation: python benchmarks/statistics.py [--rounds N] [TABLE ...]

Prints the tables of docs/statistics.md, each with its number of rounds and the largest error that chance leaves in it.
Seeds are fixed. Each table is one function of `simulations.py`. `python benchmarks/statistics.py second` prints the
figures that verdicts were changed for, before and now (`second_look.py`).
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and sys.argv[1:2] == ["second"]:
    from second_look import main

    main(sys.argv[2:])
elif __name__ == "__main__":
    from simulations import main

    main(sys.argv[1:])
else:
    # Beside the other benchmarks this file hides Python's module of the same name: who asks for that gets it.
    import importlib.machinery
    import importlib.util
    import sysconfig

    found = importlib.machinery.PathFinder.find_spec("statistics", [sysconfig.get_path("stdlib")])
    assert found is not None
    assert found.loader is not None
    sys.modules[__name__] = importlib.util.module_from_spec(found)
    found.loader.exec_module(sys.modules[__name__])
