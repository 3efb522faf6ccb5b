#!/usr/bin/env bash
# Gradescope runs this once, when it makes the machine that grades.
set -e
root=${AUTOGRADER:-/autograder}
apt-get update && apt-get install -y --no-install-recommends python3 python3-venv
python3 -m venv "$root/venv"
"$root/venv/bin/pip" install torch --index-url https://download.pytorch.org/whl/cpu
"$root/venv/bin/pip" install -e "$root/source[book]" nbformat pyyaml
