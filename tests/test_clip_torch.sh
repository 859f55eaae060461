#!/usr/bin/env bash
# CLIPs with random weights, ViT-B/32 at its true size among them, against the transformers and open_clip that are installed
# here. PYTHON is the python3 that has them. 77: there are none.
# ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages torch transformers safetensors
cases="odd_gelu b32 b32_gelu"
if PYTHON=$python python_with open_clip >/dev/null; then cases="$cases odd_open_clip b32_open_clip"
else echo "no open_clip: its cases are left out"; fi
for case in $cases; do
    mkdir "$dir/$case"
    "$python" ../tools/golden/clip.py --case "$case" "$dir/$case" > "$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
    "$build/test_clip" "$dir/$case"
    rm -r "${dir:?}/$case"
done
