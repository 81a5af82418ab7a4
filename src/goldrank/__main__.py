"""`python -m goldrank` is the `goldrank` command."""

from goldrank.cli import main

if __name__ == "__main__":
    main()
