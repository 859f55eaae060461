#!/usr/bin/env bash
# The example of a predictor, with the PyTorch that is installed here, against our own networks on the same weights. 77: there
# is none.
set -euo pipefail
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import importlib.util as u, sys; sys.exit(not (u.find_spec("torch") and u.find_spec("torchvision")))' ||
    { echo "no torchvision: skipped"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export OMP_NUM_THREADS=1
"$python" predictor_models.py "$dir"
while read -r model side want; do
    "$1/test_predictor" "$dir/$model.safetensors" "$python ../tools/python/examples/protocol.py '$dir/$model.pt'" "$side" \
        > "$dir/said"
    [ "$(cut -d' ' -f1 "$dir/said" | paste -sd' ')" = "$want" ] || { echo "$model: $(cat "$dir/said"), not $want"; exit 1; }
    awk -v model="$model" '!($2 <= 1e-4) { print model ": " $1 " numbers differ by " $2; bad = 1 } END { exit bad }' "$dir/said"
done <<< "narrow 64 5 128 976
wide 96 7 512 3904
deep 96 7 512 7616
alexnet 96 5 1024 2336"
