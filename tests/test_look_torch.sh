#!/usr/bin/env bash
# The whole ResNet-18 on files of pictures, against the torchvision that is installed here. 77: there is none.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages PIL torchvision
"$python" ../tools/golden/look.py --against "$build/test_look"
