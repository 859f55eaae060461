#!/usr/bin/env bash
# The whole ResNet-18 on files of pictures, against the torchvision that is installed here. 77: there is none.
set -euo pipefail
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import importlib.util as u, sys; sys.exit(not (u.find_spec("PIL") and u.find_spec("torchvision")))' ||
    { echo "no PIL or torchvision: skipped"; exit 77; }
"$python" ../tools/golden/look.py --against "$1/test_look"
