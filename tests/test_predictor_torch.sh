#!/usr/bin/env bash
# The example of a predictor, with the PyTorch that is installed here, against our own networks on the same weights. 77: there
# is none.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages torch torchvision
export OMP_NUM_THREADS=1
"$python" predictor_models.py "$dir"
while read -r model side want; do
    "$build/test_predictor" "$dir/$model.safetensors" "$python ../tools/python/examples/protocol.py '$dir/$model.pt'" "$side" \
        > "$dir/said"
    [ "$(cut -d' ' -f1 "$dir/said" | paste -sd' ')" = "$want" ] || { echo "$model: $(cat "$dir/said"), not $want"; exit 1; }
    awk -v model="$model" '!($2 <= 1e-4) { print model ": " $1 " numbers differ by " $2; bad = 1 } END { exit bad }' "$dir/said"
done <<< "narrow 64 5 128 976
wide 96 7 512 3904
deep 96 7 512 7616
alexnet 96 5 1024 2336"
