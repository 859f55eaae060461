#!/usr/bin/env bash
# test_bench.sh BUILD: every row of spotter bench with tiny sizes, on the CPU and on the block emulator: answers are checked,
# --json is JSON with rates, and a wrong op is a sentence.
# ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
export SPOT_EMULATOR=identity SPOT_EMULATOR_CUDNN=1 SPOT_PLAN_DIR=$dir/plans

# rows DEVICE OPTION...: checks the rows of a device and prints how many there are.
rows()
{
    local device=$1
    shift
    "$spotter" bench --small --json --device "$device" "$@" >"$dir/rows" 2>"$dir/said" ||
        { echo "bench --device $device failed:"; cat "$dir/said"; exit 1; }
    python3 - "$dir/rows" "$device" <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))
assert rows, "no rows"
for row in rows:
    assert "error" not in row, row
    assert row["device"].startswith(sys.argv[2]) and row["median_s"] > 0 and row["per_s"] > 0 and row["runs"] >= 1, row
    assert row["op"] != "norm" or 0 < row["ceiling_percent"], row      # the ceilings came first
    assert row["op"] not in ("conv", "train") or 0 < row["tflops"], row
assert len({(r["op"], r["case"]) for r in rows}) == len(rows), "two rows have one name"
print(sys.argv[2] + ": %d rows" % len(rows))
PY
}

rows cpu
if [ -e "$1/emulator/libspotter_cuda.so" ]; then
    export SPOT_PLUGIN_DIR=$1/emulator
    rows cuda
    rows cuda mixture                   # the ceilings are there whatever is asked for
    grep -q '"op":"ceiling"' "$dir/rows" || { echo "a GPU's ceilings should come first"; exit 1; }
fi
code=0
"$spotter" bench nonsense 2>"$dir/said" || code=$?
[ $code = 2 ] && grep -q 'there is no bench of "nonsense"; there are ceiling, render' "$dir/said" ||
    fail "bench nonsense: exit $code: $(cat "$dir/said")"
