"""Make the package's models again: ``python -m press.weights FOLDER``.

FOLDER is where recording left the trained models (``attnmt record rnnsearch-grammar-0 --work
FOLDER``, and so on). See :mod:`attnmt.book.live.weights`.
"""

import sys
from collections.abc import Sequence

from attnmt.book.live import weights


def main(arguments: Sequence[str]) -> int:
    """Collect the models of one folder, and say which were there."""
    if len(arguments) != 1:
        print("Where are the trained models? python -m press.weights FOLDER")
        return 2
    found = weights.collect(arguments[0])
    print(f"{weights.FOLDER}: {', '.join(found) or 'nothing'} from {arguments[0]}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
