#!/usr/bin/env bash
# The real width, and an ImageNet-sized head, against the torchvision that is installed here. 77: there is none.
set -euo pipefail
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import torch, torchvision' 2>/dev/null || { echo "no torchvision: skipped"; exit 77; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for case in "64 64 8 1 9" "32 96 5 7 9"; do      # width, size, batch, outputs, batches
    # shellcheck disable=SC2086  # five words
    "$python" ../tools/golden/resnet18.py $case > "$out"
    "$1/test_resnet" "$out"
done
