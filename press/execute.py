"""``python -m press.execute`` is now ``python -m press.run.execute``."""

import sys

from press.run.execute import main

if __name__ == "__main__":
    sys.exit(main())
