#!/usr/bin/env bash
# The whole ResNet-18 on files of pictures, against the torchvision that is installed here. 77: there is none.
set -euo pipefail
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import PIL, torchvision' 2>/dev/null || { echo "no PIL or torchvision: skipped"; exit 77; }
"$python" ../tools/golden/look.py --against "$1/test_look"
