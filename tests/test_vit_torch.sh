#!/usr/bin/env bash
# Vision transformers by timm's and DINOv2's names against the PyTorch that is installed here: features and logits within 1e-4.
# 77: there is none. ctest: timeout 300
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages torch torchvision
export OMP_NUM_THREADS=1
coproc MODELS { exec "$python" vit_models.py "$dir"; }
for case in timm dinov2 registers timm_registers placed tuned half base gap gap_register gap_registers mean mean_registers \
            linear_head odd; do
    echo "$case" >&"${MODELS[1]}" && read -r -u "${MODELS[0]}" sizes || fail "$case: no network"
    # shellcheck disable=SC2086  # four words
    "$build/test_vit" "$dir/$case" $sizes
    rm "$dir/$case".*
done
