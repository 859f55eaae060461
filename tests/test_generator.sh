#!/usr/bin/env bash
# test_generator.sh BUILD: every command of bench/generator at a tiny size, by test_generator.py. PYTHON is the python3 that has
# PyTorch. 77: there is none.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages torch numpy PIL
[ -x "$build/tiny_clip_pictures" ] || { echo "skipped: no $build/tiny_clip_pictures"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 "$python" test_generator.py "$build" "$dir/state"
