#!/usr/bin/env bash
# CLIPs with random weights, ViT-B/32 at its true size among them, against the transformers and open_clip that are installed
# here. PYTHON is the python3 that has them. 77: there are none.
# ctest: long
set -euo pipefail
python=${PYTHON:-/usr/bin/python3}
has() { "$python" -c "import importlib.util as u, sys; sys.exit(not all(u.find_spec(m) for m in sys.argv[1:]))" "$@"; }
has torch transformers safetensors || { echo "no transformers: skipped"; exit 77; }
cases="odd_gelu b32 b32_gelu"
if has open_clip; then cases="$cases odd_open_clip b32_open_clip"; else echo "no open_clip: its cases are left out"; fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for case in $cases; do
    mkdir "$dir/$case"
    "$python" ../tools/golden/clip.py --case "$case" "$dir/$case" > "$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
    "$1/test_clip" "$dir/$case"
    rm -r "${dir:?}/$case"
done
