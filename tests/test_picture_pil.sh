#!/usr/bin/env bash
# Decoding, resizing and cutting on fresh pictures against the PIL and torchvision that are installed here. 77: there are none.
set -euo pipefail
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import importlib.util as u, sys; sys.exit(not (u.find_spec("PIL") and u.find_spec("torchvision")))' ||
    { echo "no PIL or torchvision: skipped"; exit 77; }
"$python" ../tools/golden/pictures.py --against "$1/test_picture"
