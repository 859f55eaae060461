#!/usr/bin/env bash
# The real width, and an ImageNet-sized head, against the torchvision that is installed here. 77: there is none.
# ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages torch torchvision
export OMP_NUM_THREADS=1       # beside other tests, threads of PyTorch mostly wait for one another: twice the time
out=$dir/out
for case in "64 64 8 1 3 2" "32 96 5 7 3 2" "64 64 4 1 3 2 34"; do      # width, size, batch, outputs, batches, steps, layers
    # shellcheck disable=SC2086  # six words or seven
    "$python" ../tools/golden/resnet18.py $case > "$out"
    "$build/test_resnet" "$out"
done
"$python" ../tools/golden/alexnet.py 64 96 4 2 3 2 > "$out"
"$build/test_resnet" "$out"
