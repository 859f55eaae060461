#!/usr/bin/env bash
# test_gpu_run.sh BUILD: the scripts for a node with a GPU, with tiny sizes on the block emulator: a run of tools/gpu_run in
# four calls, two that run out of time and one that is killed; its summary; the table of peers. What is not there says so.
# ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ -e "$build/emulator/libspotter_cuda.so" ] || { echo "skipped: no emulator in $build"; exit 77; }
export SPOT_PLUGIN_DIR=$build/emulator SPOT_EMULATOR=identity TMPDIR=$dir

# A tree as tools/bundle makes it. Its tests stand in for real ones: each notes that it ran, and two hang the first time.
node=$dir/node out=$dir/out
mkdir -p "$node"/{bin,tools,path} "$node/bench"
ln -s "$build/spotter" "$node/bin/spotter"
ln -s "$PWD/../configs" "$node/configs"
ln -s "$PWD/../bench/peers" "$node/bench/peers"
cp ../tools/gpu_{run,busy,summary} "$node/tools/"
echo abc123 >"$node/.commit"
stub() { { echo '#!/bin/sh'; cat; } >"$1" && chmod +x "$1"; }
stub "$node/path/nvidia-smi" <<'END'
case "$*" in
    *name,driver*) echo "Emulated GPU, 1.0" ;;
    *utilization*) echo "91, 1980, 650, 1000"; exec sleep 600 ;;
    *-x*)          echo "<nvidia_smi_log/>" ;;
esac
END
for test in a_passes b_hangs c_hangs d_hangs; do
    stub "$node/bin/test_cuda_$test" <<END
echo \$\$ >>"$dir/ran.$test"
case $test in *hangs) [ \$(wc -l <"$dir/ran.$test") -gt 1 ] || exec sleep 600 ;; esac
END
done
export PATH=$node/path:/usr/bin:$PATH

# call CODE WORDS ARGS...: gpu_run into $out.
call()
{
    local code=$1 words=$2 got=0
    shift 2
    "$node/tools/gpu_run" "$out" --small "$@" >"$dir/said" 2>&1 || got=$?
    [ $got = "$code" ] && grep -q -- "$words" "$dir/said" || { cat "$dir/said"; fail "gpu_run $*: exit code $got, not $code"; }
}
ran() { wc -l <"$dir/ran.$1"; }
steps=(device tests bench/mixture bench/norm sweep/first sweep/second peers/mixture_1 peers/render_1)

# Time runs out in b; a is done and does not run again.
call 3 'tests test_cuda_a_passes: done' --minutes 0.1 "${steps[@]:1:1}"
grep -q 'test_cuda_b_hangs: stopped after' "$dir/said" || { cat "$dir/said"; fail "the unit that time stopped"; }
[ ! -e "$out/tests/test_cuda_b_hangs.json" ] || fail "a stopped unit counts as finished"
# A kill in c, of the unit, too, as when a whole job is ended.
"$node/tools/gpu_run" "$out" --small tests >"$dir/said" 2>&1 &
until [ -s "$dir/ran.c_hangs" ]; do kill -0 $! || { cat "$dir/said"; fail "it ended before c"; }; sleep 0.1; done
call 2 'another gpu_run works in'
kill "$(cat "$dir/ran.c_hangs")" $!
code=0; wait %1 || code=$?
[ $code = 3 ] && grep -q '2 of 4 units are done' "$dir/said" || { cat "$dir/said"; fail "a killed call: exit $code"; }
grep -q '2 of 4 units are finished' "$out/RESULTS.md" || fail "the summary of a killed call"
# Time runs out again; then the rest.
call 3 'test_cuda_d_hangs: stopped after' --minutes 0.1 tests
call 0 '12 of 12 units are done, 0 failed' "${steps[@]}"
[ "$(ran a_passes) $(ran b_hangs) $(ran c_hangs) $(ran d_hangs)" = "1 2 2 2" ] || fail "what was done ran again, or less"
call 0 '12 of 12 units are done' "${steps[@]}"
! grep -q 'done in' "$dir/said" || fail "a finished run runs again"
for words in '^## Emulated GPU, 1.0, 20.*, commit abc123' 'spotter [0-9.]*.*, numbers' 'tests: 4 of 4 pass' \
    'sweep second: .* the same [1-9][0-9]* files to the byte' '| ceiling | copy, 4 GiB' \
    '| norm | statistics, .*% of the ceiling | 85 % of the ceiling | .*: missed, slower' '| mixture | 100 ECs.* fits/s | 2.9' \
    'cuda block emulator, sm_00' '^| device busy during a sweep | 91 %' '^| mixtures, 100 ECs .* scikit-learn .* missed' \
    '^| rendering .* GB/s written' \
    '^#### Means' '| 1 planespot-pca'; do
    grep -q -- "$words" "$out/RESULTS.md" || { cat "$out/RESULTS.md"; fail "the summary lacks: $words"; }
done
grep -q nvidia_smi_log "$out/device/nvidia_smi.xml" || fail "nvidia-smi's description"
python3 - "$out" <<'PY' || fail "the records"
import json, sys
r = json.load(open(sys.argv[1] + "/sweep/busy.json"))
assert r["exit"] == 0 and r["seconds"] > 0 and r["busy_percent"] == 91, r
assert json.load(open(sys.argv[1] + "/sweep/second.json"))["equal"] is True
PY

# A step that has had its share waits for the others.
rm "$out/tests/test_cuda_c_hangs.json" "$out/bench/mixture.json"
sed -i 's/"seconds": .*,/"seconds": 1000,/' "$out/tests/test_cuda_d_hangs.json"
call 0 '12 of 12 units are done' "${steps[@]}"
sed -n 1,2p "$dir/said" | tr '\n' ' ' | grep -q 'bench mixture: done.*test_cuda_c_hangs: done' || fail "the share of a step"
! grep -q "$dir" "$out/RESULTS.md" || fail "the summary names a folder of this machine"

# Failures: a test, another sweep's bytes, a unit that needs more than all the time there is, another program's results.
echo 'echo three is not four; exit 1' >>"$node/bin/test_cuda_a_passes"
rm "$out/tests/test_cuda_a_passes.json" "$out/sweep/second.json"
sed -i '/segments/s/: "./: "x/' "$out/sweep/first.json"
call 1 'test_cuda_a_passes: FAILED .* exit code 1: three is not four' tests sweep/first sweep/second
grep -q 'sweep second: FAILED: 1 of .* differ.* segments' "$out/RESULTS.md" || fail "a sweep of other bytes"
rm "$dir/ran.b_hangs" "$out/tests/test_cuda_b_hangs.json"
call 1 'b_hangs: FAILED after .* all of --minutes' --minutes 0.06 tests/test_cuda_b_hangs
call 2 'holds what a call with another limit gave' --limit 3
call 2 'there is no step nonsense' nonsense
call 2 'bench/nonsense: there is nothing to run' bench/nonsense

# Every op that `spotter bench` has for a GPU is in gpu_run's list.
{ "$spotter" bench nonsense 2>&1 || true; } | sed -n 's/.*there are //p' | tr -d , | tr ' ' '\n' | sort >"$dir/ops"
python3 - ../tools/gpu_run <<'PY' | sort | diff - "$dir/ops" || fail "gpu_run's list of ops"
import re, sys
print(*" ".join(re.findall(r'"(.*)"', re.search(r"OPS = \((.*?)\)\.split", open(sys.argv[1]).read(), re.S).group(1))).split(),
      "ceiling", "look", "bpe", "itemsets", sep="\n")       # measured with each; the others are for the CPU only
PY
code=0
"$node/tools/gpu_busy" "$dir/busy" sh -c 'exit 75' 2>/dev/null || code=$?
[ $code = 75 ] || fail "gpu_busy hands on the exit code: $code"
echo "the scripts for a GPU's node do what they say"
