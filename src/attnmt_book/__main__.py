"""The command line as a module, for launchers: ``torchrun -m attnmt_book train ...``."""

import sys

from attnmt_book.cli import main

if __name__ == "__main__":
    sys.exit(main())
