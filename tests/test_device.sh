#!/usr/bin/env bash
# test_device.sh BUILD - --device as a user meets it: a GPU that is not there is a sentence and exit code 5, auto takes
# what is there without a word, and a device that is there draws the CPU's pictures.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ -x "$spotter" ] || { echo "skipped: there is no $spotter"; exit 77; }

# run CODE WORDS ARG...: the command ends with this exit code and says these words.
run()
{
    local want=$1 words=$2 code=0
    shift 2
    "$spotter" scene ../configs/quickstart.yaml --ec 0 --count 1 --out "$dir" "$@" > "$dir/said" 2>&1 || code=$?
    if [ $code -ne "$want" ] || ! grep -q -- "$words" "$dir/said"; then
        echo "scene $*: exit $code, wanted $want and \"$words\"; it said:"
        cat "$dir/said"
        exit 1
    fi
}

run 0 ""                                --device cpu
run 0 ""                                --device auto
if grep device "$dir/said"; then echo "scene says where it ran, which nobody asked"; exit 1; fi
run 2 "auto, cpu or cuda"               --device tpu
SPOT_PLUGIN_DIR=/nowhere run 5 "libspotter_cuda.so is not there" --device cuda
if [ -e "$1/emulator/libspotter_cuda.so" ]; then
    run 0 "" --device cpu --split val
    mv "$dir"/val-000000.png "$dir"/of-cpu.png
    SPOT_PLUGIN_DIR=$1/emulator run 0 "" --device cuda --split val
    cmp "$dir"/val-000000.png "$dir"/of-cpu.png || { echo "CUDA's picture is not the CPU's"; exit 1; }
fi
echo "--device does what it says"
