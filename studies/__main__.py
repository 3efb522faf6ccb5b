"""Make a study: ``python -m studies searches``."""

import sys

from studies.study import start

if __name__ == "__main__":
    start(sys.argv[1:])
