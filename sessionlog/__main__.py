"""`python -m sessionlog`: the commands alone, without the screen."""

import sys

from sessionlog.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
