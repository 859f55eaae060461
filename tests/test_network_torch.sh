#!/usr/bin/env bash
# ResNets of every form, with the names, types and heads that users' files have, against the torchvision that is installed here:
# logits, features and channels within 1e-4. 77: there is none. ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages torch torchvision
export OMP_NUM_THREADS=1 PYTHONPATH=$PWD
coproc MODELS { exec "$python" network_models.py "$dir"; }
while read -r model side want; do
    echo "$model" >&"${MODELS[1]}" && read -r -u "${MODELS[0]}" _ || fail "$model: no network"
    "$build/test_predictor" "$dir/$model.safetensors" \
        "$python ../tools/python/examples/protocol.py '$dir/$model.pt'" "$side" > "$dir/said"
    [ "$(cut -d' ' -f1 "$dir/said" | paste -sd' ')" = "$want" ] || { echo "$model: $(cat "$dir/said"), not $want"; exit 1; }
    awk -v m="$model" '{ print m ": " $1 " numbers differ by " $2 } !($2 <= 1e-4) { bad = 1 } END { exit bad }' "$dir/said"
    rm "$dir/$model".*
done <<< "resnet50 224 11 2048 22720
resnet101 96 3 2048 48832
resnet18 224 5 512 3904
resnet34 160 7 512 7616
half 64 4 2048 22720
bfloat 96 4 512 3904
cifar 32 10 512 3904
wide 64 4 2048 30272
odd 288 6 2048 6592
shallow 96 6 512 2752
numbered 64 6 512 3904"
