#!/usr/bin/env bash
# Gradescope runs this once, when it makes the machine that grades.
set -e
root=${AUTOGRADER:-/autograder}
apt-get update
apt-get install -y --no-install-recommends python3 python3-venv bubblewrap
python=python3
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then # an older Ubuntu
  apt-get install -y --no-install-recommends python3.11 python3.11-venv
  python=python3.11
fi
"$python" -m venv "$root/venv"
"$root/venv/bin/pip" install torch --index-url https://download.pytorch.org/whl/cpu
"$root/venv/bin/pip" install -e "$root/source[book]" nbconvert nbformat pyyaml # what press.editions.grade imports
