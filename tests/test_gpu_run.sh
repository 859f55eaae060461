#!/usr/bin/env bash
# test_gpu_run.sh BUILD: the scripts for a node with a GPU, with tiny sizes on the block emulator: a run of tools/gpu_run in
# four calls, two that run out of time and one that is killed; its summary; the table of peers. What is not there says so.
# tools/gpu_first, killed at any moment, leaves an archive with all units that had ended.
# ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ -e "$build/emulator/libspotter_cuda.so" ] || { echo "skipped: no emulator in $build"; exit 77; }
export SPOT_PLUGIN_DIR=$build/emulator SPOT_EMULATOR=identity TMPDIR=$dir

# A tree as tools/bundle makes it. Its tests stand in for real ones: each notes that it ran, and hangs so many times.
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
for test in a:0 b:1 c:2 d:1; do
    stub "$node/bin/test_cuda_${test%:*}" <<END
echo \$\$ >>"$dir/ran.${test%:*}"
[ \$(wc -l <"$dir/ran.${test%:*}") -gt ${test#*:} ] || exec sleep 600
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
steps=(device tests train bench/models sweep/first again/second again/mixture_1 peers/render_1)

# Time runs out in three; a is done and does not run again.
call 3 'tests test_cuda_a: done' --minutes 0.15 device/about tests
[ "$(grep -c 'test_cuda_[bcd]: stopped after' "$dir/said")" = 3 ] || { cat "$dir/said"; fail "the units that time stopped"; }
[ ! -e "$out/tests/test_cuda_b.json" ] || fail "a stopped unit counts as finished"
# A kill in c, of the unit, too, as when a whole job is ended.
"$node/tools/gpu_run" "$out" --small tests >"$dir/said" 2>&1 &
until [ "$(ran c)" = 2 ] && [ -e "$out/tests/test_cuda_b.json" ] && [ -e "$out/tests/test_cuda_d.json" ]; do
    kill -0 $! || { cat "$dir/said"; fail "it ended before c"; }
    sleep 0.1
done
call 2 'another gpu_run works in'
kill "$(tail -1 "$dir/ran.c")" $!
code=0; wait %1 || code=$?
[ $code = 3 ] && grep -q '3 of 4 units are done' "$dir/said" || { cat "$dir/said"; fail "a killed call: exit $code"; }
grep -q '3 of 4 units are finished' "$out/RESULTS.md" || fail "the summary of a killed call"
# Then the rest.
call 0 '13 of 13 units are done, 0 failed' "${steps[@]}"
[ "$(ran a) $(ran b) $(ran c) $(ran d)" = "1 2 3 2" ] || fail "what was done ran again, or less"
call 0 '13 of 13 units are done' "${steps[@]}"
! grep -q 'done in' "$dir/said" || fail "a finished run runs again"
for words in '^## Emulated GPU, 1.0, 20.*, commit abc123' 'spotter [0-9.]*.*, numbers' 'tests: 4 of 4 pass' \
    'again second: .* the same [1-9][0-9]* files to the byte' '| ceiling | copy, 4 GiB' \
    '| norm | statistics, .*% of the ceiling | 85 % of the ceiling | .*: missed, slower' '| mixture | 100 ECs.* fits/s | 2.9' \
    'cuda block emulator, sm_80' '^| device busy during a sweep | 91 %' '^| mixtures, 100 ECs .* scikit-learn .* missed' \
    '^| rendering .* GB/s written' \
    'this GPU reaches .* % of 4300 GB/s (copy) and .* % of 790 TFLOP/s (product)' '^#### Means' '| 1 planespot-pca'; do
    grep -q -- "$words" "$out/RESULTS.md" || { cat "$out/RESULTS.md"; fail "the summary lacks: $words"; }
done
grep -q nvidia_smi_log "$out/device/nvidia_smi.xml" || fail "nvidia-smi's description"
python3 - "$out" <<'PY' || fail "the records"
import json, sys
r = json.load(open(sys.argv[1] + "/sweep/busy.json"))
assert r["exit"] == 0 and r["seconds"] > 0 and r["busy_percent"] == 91, r
assert json.load(open(sys.argv[1] + "/again/second.json"))["equal"] is True
PY

# A step that has had its share waits for the others.
rm "$out/tests/test_cuda_c.json" "$out/bench/models.json"
sed -i 's/"seconds": .*,/"seconds": 1000,/' "$out/tests/test_cuda_d.json"
call 0 '13 of 13 units are done' "${steps[@]}"
sed -n 1,2p "$dir/said" | tr '\n' ' ' | grep -q 'bench models: done.*test_cuda_c: done' || fail "the share of a step"
! grep -q "$dir" "$out/RESULTS.md" || fail "the summary names a folder of this machine"

# Failures: a test, another sweep's bytes, a unit that needs more than all the time there is, another program's results.
echo 'echo three is not four; exit 1' >>"$node/bin/test_cuda_a"
rm "$out/tests/test_cuda_a.json" "$out/again/second.json"
sed -i '/segments/s/: "./: "x/' "$out/sweep/first.json"
call 1 'test_cuda_a: FAILED .* exit code 1: three is not four' tests sweep/first again/second
grep -q 'again second: FAILED: 1 of .* differ.* segments' "$out/RESULTS.md" || fail "a sweep of other bytes"
rm "$dir/ran.b" "$out/tests/test_cuda_b.json"
call 1 'test_cuda_b: FAILED after .* all of --minutes' --minutes 0.06 tests/test_cuda_b
call 2 'holds what a call with another limit gave' --limit 3
call 2 'there is no step nonsense' nonsense
call 2 'bench/nonsense: there is nothing to run' bench/nonsense

# The first contact, killed without a word at some moment: its archive has every unit that it had said to be done a moment
# before. The second call goes on.
first=$dir/first
mkdir -p "$first"/{tools,build-gpu}
cp ../tools/gpu_first "$first/tools/"
mv "$node" "$dir/spotter" && export PATH=$dir/spotter/path:$PATH
tar -C "$dir" -cJf "$first/build-gpu/spotter.tar.xz" spotter
"$first/tools/gpu_first" run "$dir/kept" --small --seconds 60 2>/dev/null && fail "an option of gpu_first behind one of gpu_run"
setsid "$first/tools/gpu_first" run "$dir/kept" --seconds 60 --small device tests train >"$dir/said" 2>&1 &
until grep -q 'test_cuda_d: done' "$dir/said"; do kill -0 $! || { cat "$dir/said"; fail "it ended before the tests"; }; sleep 0.1; done
sleep 0.$((RANDOM % 10))
kept=$(grep -c ': done in\|: FAILED after' "$dir/said")
sleep 1
kill -KILL -- -$!
wait $! 2>/dev/null || true
[ "$(tar -tzf "$dir/kept/gpu.tgz" | grep -cE 'results/[a-z]+/[^/]*[.]json$')" -ge "$kept" ] ||
    { cat "$dir/said"; tar -tzf "$dir/kept/gpu.tgz"; fail "the archive of a killed call lacks units"; }
code=0
"$first/tools/gpu_first" run "$dir/kept" --seconds 100 --small device tests train >"$dir/said" 2>&1 || code=$?
[ $code = 1 ] && grep -q '7 of 8 units are done, 1 failed' "$dir/said" || { tail -n 100 "$dir/said" "$first"/build-gpu/results/*/*.json; fail "the second call: exit $code"; }
tar -xzf "$dir/kept/gpu.tgz" -C "$dir" results/RESULTS.md && grep -q 'tests: 3 of 4 pass' "$dir/results/RESULTS.md" ||
    fail "the summary in the archive"

# Every op that `spotter bench` has for a GPU is in gpu_run's list.
{ "$spotter" bench nonsense 2>&1 || true; } | sed -n 's/.*there are //p' | tr -d , | tr ' ' '\n' | sort >"$dir/ops"
python3 - ../tools/gpu_run <<'PY' | sort | diff - "$dir/ops" || fail "gpu_run's list of ops"
import re, sys
text = open(sys.argv[1]).read()
groups = [re.search(r"%s = ({.*?})" % name, text, re.S).group(1) for name in ("FIRST", "GROUPS")]
print(*" ".join(v for g in groups for v in eval(g).values()).split(), "ceiling", "look", "bpe", "itemsets", "proof", sep="\n")
# The ceilings are measured with the first; the last four are for the CPU only.
PY
code=0
"$dir/spotter/tools/gpu_busy" "$dir/busy" sh -c 'exit 75' 2>/dev/null || code=$?
[ $code = 75 ] || fail "gpu_busy hands on the exit code: $code"
echo "the scripts for a GPU's node do what they say"
