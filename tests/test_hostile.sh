#!/usr/bin/env bash
# test_hostile.sh BUILD: hostile input and hostile surroundings. Libraries in the current directory, devices and other people's
# files in the way of output, pipes and links in a stranger's run, too little memory. $1: build folder.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
tools=$(cd ../tools && pwd)
configs=$(cd ../configs && pwd)
limit=60
cd "$dir" || exit 1

# --- Libraries come from the system and from the bundle, never from the current directory.
cmake --install "$build" --prefix "$dir/there" >out 2>&1 || fail "cmake --install: $(cat out)"
for file in "$build"/spotter "$build"/libspotter*.so "$dir"/there/bin/spotter "$(find there -name libspotter.so)"; do
    readelf -d "$file" 2>/dev/null | grep -E 'R(UN)?PATH' | grep -qE '\[:|::|:\]|\[\]' &&
        fail "$file has an empty element in its run path"
done
mkdir planted
echo '__attribute__((constructor)) static void run(void) { __builtin_puts("PLANTED"); __builtin_exit(9); }' >planted/e.c
for library in $(readelf -d "$spotter" | sed -nE 's/.*NEEDED.*\[(lib(png|yaml|yajl|sqlite)[^]]*)\]/\1/p'); do
    cc -shared -fPIC -Wl,-soname,"$library" -o "planted/$library" planted/e.c -w || fail "cc"
done
ls planted/lib* >/dev/null 2>&1 || fail "no library was planted"
(cd planted && "$spotter" --version) >out 2>err || fail "a planted library: $(head -c 300 err)"
grep -q PLANTED out && fail "code from the current directory runs"

# --- tools/bundle replaces what it made, and nothing else.
mkdir -p pfx/bin pfx/share
echo precious >pfx/share/thesis.txt
cp "$spotter" pfx/bin/
ends 1 "is no bundle" "$tools/bundle" pfx --build "$build"
[ -s pfx/share/thesis.txt ] || fail "tools/bundle emptied a prefix"
ends 0 "" "$tools/bundle" b --build "$build"
mkdir b/runs
echo mine >b/runs/mine
echo old >b/lib/old.so
printf '%s\n' ./lib/old.so ./../pfx/share/thesis.txt /dev/null >>b/.bundle
ends 0 "" "$tools/bundle" b --build "$build"
[ -s b/runs/mine ] && [ ! -e b/lib/old.so ] && [ -x b/bin/spotter ] || fail "a bundle made again"
[ -s pfx/share/thesis.txt ] || fail "a list that leads out of the bundle is followed"
(cd planted && ../b/bin/spotter --version >/dev/null) || fail "a bundle made again does not run"
[ "$(ls -d b*)" = b ] || fail "tools/bundle left $(ls -d b*)"

# --- tools/nightly takes over a lock, not a folder of that name.
mkdir -p place/running/precious
echo data >place/running/precious/f.txt
ends 2 "is no lock of a night" "$tools/nightly" --place place --build nobuild
[ -s place/running/precious/f.txt ] && [ "$(wc -l <err)" = 1 ] || fail "tools/nightly: $(cat err)"
rm -r place/running && mkdir place/running                                 # killed before it wrote who it is
ends 2 "there is no nobuild/spotter" "$tools/nightly" --place place --build nobuild
[ ! -e place/running ] || fail "a night leaves its lock"

# --- tools/setup waits for another apt.
mkdir fake
cat >fake/apt-get <<'SH'
#!/bin/sh
echo "$*" >>"$FAKE/calls"
case "$*" in
    *update*) [ -e "$FAKE/free" ] && exit 0; touch "$FAKE/free"
              echo "E: Could not get lock /var/lib/apt/lists/lock"; exit 100 ;;
    *"-s "*)  exit 100 ;;
esac
SH
printf '#!/bin/sh\necho unknown\n' >fake/dpkg-query
printf '#!/bin/sh\n' >fake/sleep
printf '#!/bin/sh\necho 0\n' >fake/id
chmod +x fake/*
FAKE=$PWD/fake PATH=$PWD/fake:$PATH ends 0 "" "$tools/setup"
[ "$(grep -c update fake/calls)" = 2 ] && ! grep -qv 'Lock::Timeout=300' fake/calls || fail "tools/setup: $(cat fake/calls)"

# --- Small stacks and little memory: it works, or it ends with a sentence.
cat >tiny.yaml <<'YAML'
seed: 1
ecs: 1
scene: {size: 32, rollable: [4, 4], blindspots: [1, 1], specificity: [3, 3], per_bucket: {train: 8, val: 4, test: 8}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3}
bdms: [{reduce: pca, mixture: {k_max: 4}}, {reduce: tsne, mixture: {k_max: 4}}]
YAML
ends 0 "" "$spotter" sweep tiny.yaml --out run --device cpu
(ulimit -s 256; ends 0 "" "$spotter" sweep tiny.yaml --out small --device cpu -t 2; exit $failed) || failed=$((failed + 1))
OMP_STACKSIZE=16k ends 0 "" "$spotter" sweep tiny.yaml --out thin --device cpu -t 2
for other in small thin; do diff -r run/segments $other/segments >/dev/null || fail "another stack gives another result"; done
for mb in 112 116 120 150 200 230 250; do
    for words in --version help "sweep --bogus" "plan tiny.yaml"; do
        # shellcheck disable=SC2086
        (ulimit -v $((mb * 1024)); timeout 20 "$spotter" $words >out 2>&1 </dev/null)
        [ $? -ne 124 ] || fail "$words hangs with $mb MB of addresses"
    done
done

# --- Devices as outputs stay devices.
ends 0 "" "$spotter" report run -o page.html
"$spotter" report run -o /dev/stdout 2>err >piped.html || fail "a report to stdout: $(cat err)"
"$spotter" report run -o /dev/stdout 2>err | cmp - page.html || fail "a report through a pipe: $(cat err)"
cmp page.html piped.html || fail "a report to stdout is another page"
ends 0 "" "$spotter" report run -o /dev/null
[ -c /dev/null ] && [ -L /dev/stdout ] || fail "a device was replaced"
ends 4 "No space left" "$spotter" report run -o /dev/full

# --- Pipes in a stranger's run hold nobody up.
piped()   # FILE COMMAND...: with a pipe in the place of that file of a run it ends; what the run has besides stays.
{
    local file=$1
    shift
    rm -rf pipe && cp -r run pipe && rm -f pipe/"$file" && mkfifo pipe/"$file" || fail "mkfifo pipe/$file"
    timeout 20 "$@" >out 2>err </dev/null
    [ $? -ne 124 ] || fail "$*: a pipe in the place of $file holds it up"
}
log=$(cd run && ls logs/*.jsonl)
piped config.yaml "$spotter" tables pipe
piped config.yaml "$spotter" report pipe -o page.html
piped segments/000/ec-000000.json "$spotter" tables pipe
piped segments/000/ec-000000.json "$spotter" merge pipe --out merged
piped "$log" "$spotter" status pipe
piped "$log" "$spotter" check pipe run
piped "$(cd run && ls cache/*/*.view)" "$spotter" report pipe -o page.html
piped "$(cd run && ls cache/*/*.view)" "$spotter" view pipe --ec 0 -o view.safetensors
piped "$(cd run && ls cache/*/*.model)" "$spotter" sweep tiny.yaml --out pipe
mkfifo weights
sed 's/width: 16/width: 16, init: weights/' tiny.yaml >init.yaml
piped results.sqlite "$spotter" sweep init.yaml --out other

# A pipe of one's own is read, once: also by a writer that is slow or long gone.
ends 0 "" bash -c "\"$spotter\" plan <(cat tiny.yaml) --quick"
ends 0 "" bash -c "\"$spotter\" plan <(sleep 1; cat tiny.yaml) --quick"
ends 0 "" bash -c "\"$spotter\" plan <(cat \"$configs/background.yaml\")"

# --- Text of a stranger's files does not steer the terminal, and advice can be pasted.
plain() { "$spotter" "$@" >out 2>err </dev/null; ! grep -q "$(printf '\033')" out || fail "$*: ESC on stdout"; }
cp -r run colors
sed -i 's/"host":"[^"]*"/"host":"\\u001b[31mn\\nX\\u009b1m"/' colors/logs/*.jsonl
plain status colors --all
grep -qF '?[31mn?X??1m-' out || fail "status does not name the host: $(cat out err)"
sed 's/reduce: pca,/name: "a\\e[31mb", reduce: pca,/' tiny.yaml >names.yaml
grep -q '\\e\[31m' names.yaml || fail "names.yaml has no ESC"
ends 0 "" "$spotter" sweep names.yaml --out named
for format in text md; do plain tables named --format $format --all; done
plain plan names.yaml --quick
grep -qF 'a?[31mb' out || fail "plan does not name the method: $(cat out)"
strange="it's \$(touch ran) \`touch ran\`; %a"
mkdir "$strange" && cp tiny.yaml "$strange/config.yaml" && mkdir "$strange/segments"
ends 75 "" "$spotter" status "$strange"
advice=$(grep -F 'spotter sweep' out | sed 's|[^ ]*/spotter|spotter|')
spotter() { printf '%s|' "$@" >>said; }
eval "$advice"
[ "$(cat said)" = "sweep|$strange/config.yaml|--out|$strange|" ] && [ ! -e ran ] || fail "advice: $advice"

run 0 "" sweep tiny.yaml --out 'x%a' --submit --dry-run             # Slurm replaces what follows a single %
grep -qF "/x%%a/slurm/%A_%a.log'" out || fail "the name of a log for Slurm: $(cat out)"
mkdir linked outside && ln -s ../outside linked/slurm
refused 3 sweep tiny.yaml --out linked --submit --dry-run
[ -z "$(ls outside)" ] || fail "scripts were written behind a link"

# --- oneDNN without the instructions that the build is for: it says so, and still stops when it is asked.
# `timeout` hands SIGTERM on and leaves no process behind, for which CTest would wait.
ONEDNN_MAX_CPU_ISA=SSE41 timeout -s KILL 50 "$spotter" sweep tiny.yaml --out slow --device cpu -t 2 >out 2>err </dev/null &
sweep=$!
for ((i = 0; i < 100; i++)); do
    ! kill -0 $sweep 2>/dev/null || grep -q 'reference code' err && break
    sleep 0.1
done
sleep 0.5                                                                  # in the midst of a step
slow=$(grep -c 'reference code' err)
kill -TERM $sweep 2>/dev/null
wait $sweep
code=$?
[ "$slow" = 0 ] && [ $code = 0 ] || { [ "$slow" = 1 ] && [ $code = 75 ]; } || fail "a slow oneDNN: $code, $(cat err)"

# --- A plan for the paper's network is short, also beside other programs: its processor time is what is looked at (20 to 25 s
# where a robust step of a batch takes half a minute).
TIMEFORMAT=%U
used=$({ time "$spotter" plan "$configs/paper_synthetic.yaml" --limit 20 --device cpu -t 2 >out 2>err; } 2>&1)
grep -q 'timing training on [0-9]* images' err && grep -q '^time ' out || fail "plan: $(cat err)"
[ "${used%.*}" -lt 40 ] || fail "a plan takes $used s of processor time"

[ $failed -eq 0 ] && echo "nothing foreign was touched, nothing hung"
exit $failed
