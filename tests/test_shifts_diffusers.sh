#!/usr/bin/env bash
# spotter.shifts with a tiny Stable Diffusion of random weights, where torch, diffusers and transformers are installed. PYTHON
# is the python3 that has them. 77: there are none. It has passed with torch 2.15.0, diffusers 0.42.1 and transformers 5.23.0,
# and with 1.13.0, 0.30.0 and 4.44.2.
# ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ -e "$build/libspotter.so" ] || { echo "skipped: there is no $build/libspotter.so"; exit 77; }
need_packages torch diffusers transformers safetensors PIL
here=$PWD
cd "$dir"
PYTHONPATH=$here/../tools/python SPOTTER_LIBRARY=$build/libspotter.so PYTHONDONTWRITEBYTECODE=1 HF_HUB_OFFLINE=1 \
    TQDM_DISABLE=1 "$python" "$here/test_shifts_diffusers.py" 2>"$dir/said" || { cat "$dir/said"; exit 1; }
