#!/usr/bin/env bash
# test_cli.sh BUILD: the command line as a user meets it. Prints what failed; the exit code is their number.
set -u
. "$(dirname "$0")/lib.sh"
export LSAN_OPTIONS="${LSAN_OPTIONS:-}:print_suppressions=0"    # the sanitized build keeps stderr to itself

prints() { grep -qF -- "$1" "$dir/out" || fail "stdout lacks '$1': $(head -c 300 "$dir/out")"; }
quiet()  { [ ! -s "$dir/out" ] || fail "stdout should be empty: $(head -c 300 "$dir/out")"; }
is_json() { python3 -m json.tool "$1" >/dev/null 2>"$dir/why" || fail "$1 is not JSON: $(cat "$dir/why")"; }

tiny 2 >"$dir/tiny.yaml"

# Help, versions, typos.
run 0 "" --help;             prints "spotter sweep configs/quickstart.yaml"
run 0 "" --version;          prints "numbers 12"
if git -C .. rev-parse HEAD >"$dir/head" 2>&1; then     # an archive has no commit to name
    commit=$(sed -n 's/^spotter [0-9.]* \([0-9a-f]\{12\}\).*/\1/p' "$dir/out")
    git -C .. cat-file -e "$commit^{commit}" || fail "--version names no commit of this repository: $(cat "$dir/out")"
fi
commands=$("$spotter" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 15 ] || fail "spotter --help lists only $commands"
for c in ${commands/help/}; do
    run 0 "" help $c; prints "spotter $c"
    [ "$(sed '/^Usage: /d; /^  or:  /d; /^$/d; q' "$dir/out")" = "Examples:" ] || fail "help $c does not begin with examples: $(head -5 "$dir/out")"
    [ "$(awk 'length > 80' "$dir/out")" = "" ] || fail "help $c is wider than 80 columns: $(awk 'length > 80' "$dir/out")"
    [ -z "$(sed -n '/^Examples:/,/^$/{/^  /!{/^Examples:$/!p}}' "$dir/out" | sed '/^$/d')" ] ||
        fail "an example of $c is no line to be pasted: $(sed -n '/^Examples:/,/^$/p' "$dir/out")"
    cp "$dir/out" "$dir/help"
    run 0 "" $c --help; cmp -s "$dir/out" "$dir/help" || fail "help $c and $c --help differ"
    run 0 "" $c --usage; prints "spotter $c"
    run 0 "" $c --help-all
    [ "$(awk 'length > 80' "$dir/out")" = "" ] || fail "$c --help-all is wider than 80 columns: $(awk 'length > 80' "$dir/out")"
    grep -o -- ' --[a-z0-9-]*' "$dir/out" | sort -u >"$dir/all"
    [ -z "$(grep -o -- ' --[a-z0-9-]*' "$dir/help" | sort -u | grep -vxFf "$dir/all" | grep -v help-all)" ] ||
        fail "$c --help-all lacks options of --help"
done
run 0 "" discover --help
n=$(sed '1,/^Finds/d' "$dir/out" | grep -cE '^ {2}(-[a-z],|   ) --')
[ "$n" -le 18 ] || fail "discover --help shows $n options to a newcomer"
run 0 "" discover --help-all; prints "--follow-links"; prints "--embed-heads"
run 0 "" discover --help-a;   prints "--follow-links"
run 0 "" help config;        prints "scene.size = 224"
run 0 "" help help;          prints "Commands:"
run 2 "Commands:";           quiet
refused 2 --versio
refused 2 tables ""
refused 2 swep;                      quiet
refused 2 frobnicate
refused 2 sweep x.yaml --outt y
refused 2 sweep
refused 2 sweep "$dir/tiny.yaml"
refused 2 plan "$dir/tiny.yaml" --device gpu
refused 2 sweep "$dir/tiny.yaml" --out "$dir/x" --shard 4/4
refused 2 plan "$dir/tiny.yaml" --threads two
refused 2 tables "$dir" --format xml
refused 2 tables "$dir" "$dir"
refused 2 tables "$dir" --which 5
refused 2 figures "$dir"
refused 2 \
    figures "$dir" -o "$dir/f" --which 2,5
refused 2 scene "$dir/tiny.yaml" --ec 0 --split all --out "$dir/x"
refused 2 bench frobnicate

# Configs that are none.
refused 2 plan "$dir/nowhere.yaml"
printf 'scene:\n  sise: 3\n' >"$dir/bad.yaml"
refused 2 plan "$dir/bad.yaml"; quiet
refused 2 sweep "$dir/bad.yaml" --out "$dir/never"
[ ! -e "$dir/never" ] || fail "a wrong config left a run directory"
head -c 60 "$dir/tiny.yaml" >"$dir/cut.yaml"
refused 2 plan "$dir/cut.yaml"
: >"$dir/empty.yaml"
refused 2 plan "$dir/empty.yaml"
head -c 4096 "$spotter" >"$dir/binary.yaml"
refused 2 plan "$dir/binary.yaml"
sed 's/specificity: \[3, 3\]/specificity: [9, 9]/' "$dir/tiny.yaml" >"$dir/impossible.yaml"
for command in "plan $dir/impossible.yaml" "sweep $dir/impossible.yaml --out $dir/never" \
               "scene $dir/impossible.yaml --ec 0 --out $dir/never"; do
    refused 2 $command; quiet
    [ "$(wc -l <"$dir/err")" = 1 ] || fail "an impossible EC takes one sentence: $(cat "$dir/err")"
done
[ ! -e "$dir/never" ] || fail "an impossible config left a run directory"

# Plan and scene.
run 0 "" plan "$dir/tiny.yaml" --quick;        prints "blindspot 0:"
run 0 "" plan "$dir/tiny.yaml" --quick --json; is_json "$dir/out"
python3 - "$dir/out" <<'EOF' || fail "plan --json lacks an EC's layers, rollable attributes or blindspots"
import json, sys
plan = json.load(open(sys.argv[1]))
assert len(plan["ecs"]) == 2 and plan["memory_bytes"] > 0 and plan["seconds"] is None
assert plan["device_memory_bytes"] == 0 and plan["wave"] == 1
assert all(ec["layers"] and ec["rollable"] and ec["blindspots"] for ec in plan["ecs"])
EOF
run 0 "" scene "$dir/tiny.yaml" --ec 1 --count 3 --start 5 --out "$dir/images"
[ "$(ls "$dir/images" | tr '\n' ' ')" = "images.jsonl test-000005.png test-000006.png test-000007.png " ] ||
    fail "scene wrote $(ls "$dir/images")"
python3 -c "import json,sys; assert [json.loads(l)['index'] for l in open(sys.argv[1])] == [5, 6, 7]" \
    "$dir/images/images.jsonl" || fail "images.jsonl is not one object a line"
cp "$dir/images/test-000006.png" "$dir/six.png"
run 0 "" scene "$dir/tiny.yaml" --ec 1 --count 1 --start 6 --out "$dir/images" --threads 1
cmp -s "$dir/six.png" "$dir/images/test-000006.png" || fail "image 6 differs when it is asked for alone"
refused 4 scene "$dir/tiny.yaml" --ec 0 --out /dev/null/x
refused 2 scene "$dir/tiny.yaml" --ec 2 --out "$dir/beyond"
[ ! -e "$dir/beyond" ] || fail "an EC that is not there left a directory"

# A plan names the methods once, in lines that fit, with the time of each.
sed '/^bdms/,$d' "$dir/tiny.yaml" >"$dir/many.yaml"
printf 'bdms:\n  - {reduce: pca, mixture: {k_max: 2}, weight: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]}\n' \
    >>"$dir/many.yaml"
run 0 "" plan "$dir/many.yaml"; prints "methods planespot-pca weight=0 "
[ "$(grep -c "calibrated" "$dir/err")" -eq 1 ] || fail "plan says $(grep -c calibrated "$dir/err") times what it calibrated"
[ "$(grep -o "weight=[0-9.]* [0-9.e-]* s" "$dir/out" | wc -l)" -eq 10 ] ||
    fail "plan lacks methods' times: $(tail -8 "$dir/out")"
[ "$(sed -n '/^methods/,$p' "$dir/out" | awk '{ if (length > n) n = length } END { print n }')" -le 100 ] ||
    fail "plan's lines are longer than 100: $(tail -8 "$dir/out")"

# A plan of a shared run says how its processes share ECs, what one of them does for all, and what each needs.
sed 's/^model: *{/&base: {images: 64, epochs: 1}, /' "$dir/tiny.yaml" >"$dir/based.yaml"
run 0 "" plan "$dir/based.yaml" --quick --gpus 0,1,2 --threads 2 --device cpu
prints "shared  each of 3 processes takes ECs that no other one has begun, by claims in the run directory"
prints "each has a GPU and --threads 2"; prints "plan on a machine with such GPUs"
prints "one trains the base model, and the others wait for its file"
run 0 "" plan "$dir/tiny.yaml" --quick --shared --shard 1/4 --threads 2
prints "each of 4 processes"; prints "on one machine give each --threads 1"
if grep -q "base model" "$dir/out"; then fail "a plan without a base model speaks of one"; fi
run 0 "" plan "$dir/tiny.yaml" --quick --json --gpus 0,2
python3 -c "import json,sys; assert json.load(open(sys.argv[1]))['processes'] == 2" "$dir/out" ||
    fail "plan --json lacks the processes"
refused 2 plan "$dir/tiny.yaml" --quick --gpus 0,0
if [ -e "$1/emulator/libspotter_cuda.so" ]; then
    SPOT_PLUGIN_DIR=$1/emulator run 0 "" plan "$dir/based.yaml" --quick --gpus 0,1 --device cuda
    prints "one times cuDNN's ways to convolve, and the others take what it keeps"
fi

# Every shipped config of a sweep makes a plan; those of pictures say which file they want.
for f in ../configs/*.yaml; do
    if grep -q "^study:" "$f"; then continue; fi
    if grep -q "^data:" "$f"; then refused 4 plan "$f" --quick
    else run 0 "" plan "$f" --quick; prints "methods"
    fi
done

# Sweeps: run, again, tables; logs. (Signals: test_shards.sh, test_kill.sh.)
run 0 "device: c" sweep "$dir/tiny.yaml" --out "$dir/run" --json --log json; is_json "$dir/out"
python3 - "$dir/err" <<'EOF' || fail "--log json is not one object with schema and time a line: $(head -3 "$dir/err")"
import json, sys, datetime
for line in open(sys.argv[1]):
    event = json.loads(line)
    assert event["schema"] == 1 and event["level"] in ("info", "warning", "progress"), line
    datetime.datetime.strptime(event["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
EOF
grep -h '"event":"found"' "$dir"/run/logs/* | grep -v '"text":"[a-z]' > "$dir/nameless" &&
    fail "the log does not name the method whose time it has: $(head -1 "$dir/nameless")"
if [ -z "${OPENBLAS_CORETYPE-}" ] && grep -q avx2 /proc/cpuinfo && grep -qi '"platform":"[^"]*prescott' "$dir"/run/logs/*; then
    fail "OpenBLAS computes with the kernels of a CPU of 2004: $(grep -o '"platform":"[^"]*"' "$dir"/run/logs/* | head -1)"
fi
run 0 "nothing to do" sweep "$dir/tiny.yaml" --out "$dir/run"; quiet
grep -q $'\033' "$dir/err" && fail "escape codes off a terminal"
for f in text csv json md; do
    run 0 "" tables "$dir/run" --format $f
    [ -s "$dir/out" ] || fail "tables --format $f is empty"
done
run 0 "" tables "$dir/run" --format json; is_json "$dir/out"
run 0 "" tables "$dir/run" --which 2;             prints "no method of the run is Barlow"
run 0 "" tables "$dir/run" --which 7 --format json; is_json "$dir/out"
refused 3 figures "$dir/run" -o "$dir/figures"
run 0 "" figures "$dir/run" -o "$dir/figures" --all
for f in figure_3.png figure_3.svg figure_4.png; do [ -s "$dir/figures/$f" ] || fail "figures made no $f"; done
run 0 "" figures "$dir/run" --format csv --all;   prints "figure,run,config,profile,panel,method"
run 0 "" view "$dir/run" --ec 1 --out "$dir/ec.safetensors";  prints "ec.safetensors"
python3 - "$dir/ec.safetensors" <<'EOF' || fail "view left no features, confidences, images and blindspots"
import json, struct, sys
b = open(sys.argv[1], "rb").read()
t = json.loads(b[8:8 + struct.unpack("<Q", b[:8])[0]])
n, d = t["feature"]["shape"]
assert d == 128 and n > 10 and t["head"]["shape"] == [d]
assert all(t[k]["shape"] == [n] for k in ("confidence", "image", "blindspots"))
EOF
run 0 "" view "$dir/run" --ec 0 --out "$dir/ec.safetensors" --images "$dir/ec";  prints "ec/rows.csv"
run 0 "" scene "$dir/tiny.yaml" --ec 0 --count 128 --out "$dir/scene"
python3 - "$dir" <<'EOF' || fail "view --images: other pictures or attributes than those of scene"
import csv, json, os, struct, sys
at = sys.argv[1]
b = open(at + "/ec.safetensors", "rb").read()
n, = struct.unpack("<Q", b[:8])
first, end = json.loads(b[8:8 + n])["image"]["data_offsets"]
image = struct.unpack(f"<{(end - first) // 8}q", b[8 + n + first:8 + n + end])
rows = list(csv.DictReader(open(at + "/ec/rows.csv")))
assert [r["file"] for r in rows] == [f"test-{i:06}.png" for i in image] and len(rows) > 10
assert sorted(os.listdir(at + "/ec")) == sorted([r["file"] for r in rows] + ["rows.csv"])
facts = {s["file"]: s for s in map(json.loads, open(at + "/scene/images.jsonl"))}
varied = 0
for r in rows:
    name = r.pop("file")
    fact = facts[name]
    assert open(f"{at}/ec/{name}", "rb").read() == open(f"{at}/scene/{name}", "rb").read(), name
    assert r.pop("relative_position") == {1: "above", 0: "below"}[fact["relative_position"]]
    for column, value in r.items():
        layer, _, attribute = column.partition(" ")
        there = [o for o in fact["objects"] if o["layer"] == layer]
        varied += attribute != ""
        if layer == "background": assert value == fact["background"][attribute]
        elif not attribute: assert value == str(int(bool(there))), (name, column)
        elif attribute == "number": assert value == ["", "one", "two"][len(there)]
        else: assert {value or None} == ({o[attribute] for o in there} or {None}), (name, column, value)
assert varied
EOF
refused 4 view "$dir/run" --ec 0 --out "$dir/ec.safetensors" --images /dev/null/x
refused 3 view "$dir/run" --ec 5 --out "$dir/x.safetensors"
refused 3 view "$dir/run" --ec 0 --representation robust
refused 2 view "$dir/run"
refused 2 view "$dir/nowhere" --ec 0
refused 4 sweep "$dir/tiny.yaml" --out /dev/null/x
timeout 60 "$spotter" tables "$dir/nowhere" >/dev/null 2>"$dir/err" && fail "tables of nowhere succeeded"
[ "$(grep -c '^spotter: ' "$dir/err")" = 1 ] || fail "tables of nowhere takes one sentence: $(cat "$dir/err")"
"$spotter" plan "$dir/tiny.yaml" --quick >/dev/full 2>"$dir/err"
[ $? -eq 4 ] || fail "a full disk under stdout must end in 4: $(cat "$dir/err")"
"$spotter" tables "$dir/run" >/dev/full 2>"$dir/err"
[ $? -eq 4 ] || fail "tables on a full disk must end in 4: $(cat "$dir/err")"
[ "$(grep -c '^spotter: ' "$dir/err")" = 1 ] || fail "a full disk takes one sentence: $(cat "$dir/err")"
"$spotter" tables "$dir/run" 2>"$dir/err" | true
[ ! -s "$dir/err" ] || fail "a reader that has left needs no sentence: $(cat "$dir/err")"

# Every option of sweep reaches the jobs of --submit, but for those that the array itself sets.
set_by_array=" out shard limit threads max-seconds gpus json help help-all usage "
set_by_array+="submit shards task-minutes throttle partition gpus-per-task sbatch dry-run "
forwarded=0
"$spotter" sweep --help-all | sed -nE 's/^ {2,6}(-., )?--([a-z-]+)(=([^ ]+))?.*/\2 \4/p' >"$dir/options"
while read -r name word; do
    [[ "$set_by_array" == *" $name "* ]] && continue
    case $word in "") value= ;; *"|"*) value=${word##*|} ;; *) value=3 ;; esac
    run 0 "" sweep "$dir/tiny.yaml" --out "$dir/array" --submit --dry-run --shards 1 --$name $value
    head -1 "$dir/out" | grep -qE -- " sweep .* --$name${value:+ '$value'}( |$)" || fail "--$name does not reach the array"
    forwarded=$((forwarded + 1))
done <"$dir/options"
[ $forwarded -ge 7 ] || fail "only $forwarded options of sweep reach the array: $(cat "$dir/options")"
refused 2 sweep "$dir/tiny.yaml" --out "$dir/array" --throttle 3
refused 2 sweep "$dir/tiny.yaml" --out "$dir/array" --submit --json

# Mistakes: each ends in one sentence and its code, and loses nothing.
hostile() { sed "$1" "$dir/tiny.yaml" >"$dir/hostile.yaml"; }
hostile 's/lr: 1.0e-3/lr: 100, optimizer: sgd, momentum: 0.99/; s/epochs: 1/epochs: 3/'
refused 3 sweep "$dir/hostile.yaml" --out "$dir/nan" --limit 1
refused 3 sweep "$dir/hostile.yaml" --out "$dir/nan" --limit 1
run 3 "" sweep "$dir/hostile.yaml" --out "$dir/nan" --limit 1 --log json
tail -1 "$dir/err" | grep -q '"level":"error","id":"unit.failed"' || fail "--log json has no id: $(tail -1 "$dir/err")"
run 0 "" tables "$dir/nan";                    prints "1 failed to train"
hostile 's/k_max: 4/k_min: 40, k_max: 41/; s/test: 8/test: 4/'
refused 3 sweep "$dir/hostile.yaml" --out "$dir/few" --limit 1
hostile "s#lr: 1.0e-3#lr: 1.0e-3, init: $dir/weights#"
refused 4 sweep "$dir/hostile.yaml" --out "$dir/init" --limit 1
for header in '' '\xff\xff\xff\xff\xff\xff\xff\x7f{}' '\x02\0\0\0\0\0\0\0{}' '\x02\0\0\0\0\0\0\0[[' 'no safetensors'; do
    printf "$header" >"$dir/weights"
    refused 3 sweep "$dir/hostile.yaml" --out "$dir/init" --limit 1
done
: >"$dir/file"
refused 4 sweep "$dir/tiny.yaml" --out "$dir/file"
refused 4 scene "$dir/tiny.yaml" --ec 0 --out "$dir/file"
(ulimit -f 8; run 4 "" sweep "$dir/tiny.yaml" --out "$dir/full" --limit 1; exit $failed)
failed=$?
heard sweep "$dir/tiny.yaml" --out "$dir/full" --limit 1
run 0 "" sweep "$dir/tiny.yaml" --out "$dir/full" --limit 1
cmp -s "$dir/run/segments/000/ec-000000.json" "$dir/full/segments/000/ec-000000.json" || fail "a full disk changed a result"
[ $failed -eq 0 ] && echo "the command line behaves"
exit $failed
