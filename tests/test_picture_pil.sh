#!/usr/bin/env bash
# Decoding, resizing and cutting on fresh pictures against the PIL and torchvision that are installed here. 77: there are none.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages PIL torchvision
"$python" ../tools/golden/pictures.py --against "$build/test_picture"
