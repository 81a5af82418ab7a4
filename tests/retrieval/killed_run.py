"""Asks an engine until it is killed. Run as a program: URL OUTPUT COUNT."""

import sys

from goldrank.retrieval.engine_run import run_engine

if __name__ == "__main__":
    url, output, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    table = {"url": url + "/s?q={query}", "limits": {"concurrency": 4}}
    run_engine({f"q{i}": f"text {i}" for i in range(count)}, table, output=output)
