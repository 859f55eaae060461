#!/usr/bin/env bash
# test_gpu_run.sh BUILD: the scripts for a node with a GPU, with tiny sizes on the block emulator: a sweep and how busy the GPU
# was, and the table of peers. What is not there says so.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ -e "$build/emulator/libspotter_cuda.so" ] || { echo "skipped: no emulator in $build"; exit 77; }
export SPOT_PLUGIN_DIR=$build/emulator SPOT_EMULATOR=identity TMPDIR=$dir

# A tree as tools/bundle makes it, of links.
mkdir -p "$dir"/node/{bin,tools}
ln -s "$build/spotter" "$dir/node/bin/spotter"
cp ../tools/gpu_run ../tools/gpu_busy "$dir/node/tools/"
"$dir/node/tools/gpu_run" "$dir/out" --small sweep >"$dir/said" 2>&1 || { cat "$dir/said"; fail "gpu_run sweep"; }
grep -q '^sweep: done in' "$dir/said" || fail "gpu_run's last lines"
grep -q planespot "$dir/out/tables.md" || fail "the sweep's tables"
python3 - "$dir/out/busy.json" <<'PY' || fail "busy.json"
import json, sys
r = json.load(open(sys.argv[1]))
assert r["exit"] == 0 and r["seconds"] > 0 and ("busy_percent" in r) != ("error" in r), r
PY

code=0
"$dir/node/tools/gpu_run" "$dir/out" nonsense 2>"$dir/said" || code=$?
[ $code = 2 ] && grep -q 'there is no step nonsense' "$dir/said" || fail "gpu_run nonsense: exit $code"
code=0
"$dir/node/tools/gpu_busy" "$dir/busy" sh -c 'exit 75' 2>/dev/null || code=$?
[ $code = 75 ] || fail "gpu_busy hands on the exit code: $code"

/usr/bin/python3 ../bench/peers/compare_gpu.py "$build/spotter" --rounds 1 --only mixture render --small --device cpu \
    >"$dir/table" || fail "compare_gpu.py"
grep -q '^| mixtures, 100 ECs .* scikit-learn .* missed' "$dir/table" || { cat "$dir/table"; fail "the row of mixtures"; }
grep -q '^| rendering .* GB/s written' "$dir/table" || { cat "$dir/table"; fail "the row of rendering"; }
grep -q '^| device busy during a sweep | not measured' "$dir/table" || { cat "$dir/table"; fail "the busy row"; }
echo "the scripts for a GPU's node do what they say"
