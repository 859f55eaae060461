#!/usr/bin/env bash
# test_device.sh BUILD - --device as a user meets it: a GPU that is not there is a sentence and exit code 5, auto takes
# what is there without a word, and a device that is there draws the CPU's pictures.
set -u
. "$(dirname "$0")/lib.sh"
[ -x "$spotter" ] || { echo "skipped: there is no $spotter"; exit 77; }

scene=(scene ../configs/quickstart.yaml --ec 0 --count 1 --out "$dir")
run 0 "" "${scene[@]}" --device cpu
run 0 "" "${scene[@]}" --device auto
! grep device "$dir/out" "$dir/err" || fail "scene says where it ran, which nobody asked"
refused 2 "${scene[@]}" --device tpu
SPOT_PLUGIN_DIR=/nowhere refused 5 "${scene[@]}" --device cuda
if [ -e "$1/emulator/libspotter_cuda.so" ]; then
    run 0 "" "${scene[@]}" --device cpu --split val
    mv "$dir"/val-000000.png "$dir"/of-cpu.png
    SPOT_PLUGIN_DIR=$1/emulator run 0 "" "${scene[@]}" --device cuda --split val
    cmp "$dir"/val-000000.png "$dir"/of-cpu.png || fail "CUDA's picture is not the CPU's"
fi
exit $failed
