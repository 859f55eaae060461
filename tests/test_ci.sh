#!/usr/bin/env bash
# The verdicts of discover, compare and check for continuous integration: JUnit, SARIF and the summary, read by other programs;
# files of others; failures; and the workflows of host/check/README.md, whose lines are run. $1: build folder.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy, yaml' 2>/dev/null || { echo "needs python3-numpy and python3-yaml"; exit 77; }
cd "$dir" || exit 1
spotter() { "$spotter" "$@"; }

# Classes of 200 rows in 8 blobs; `hole` has one blob wrong, `fine` nothing. The second class's name is markup.
/usr/bin/python3 - <<'PYTHON'
import numpy as np
r = np.random.default_rng(3)
n = 600
y, blob = np.arange(n) % 3, (np.arange(n) // 3) % 8
e = (3 * r.standard_normal((3, 8, 6))[y, blob] + r.standard_normal((n, 6))).astype(np.float32)
def probs(wrong):
    p = np.full((n, 3), 0.05, np.float32)
    p[np.arange(n), (y + wrong) % 3] = 0.9
    return p
np.save("e.npy", e), np.save("n.npy", y)
np.save("y.npy", np.array(["<img src=x>|](http://x)\x01 \"&'", "b", "c"])[y])
np.save("fine.npy", probs(0 * y)), np.save("hole.npy", probs((y == 0) & (blob == 3)))
np.save("none.npy", probs(0 * y + 1)), np.save("two.npy", probs((y < 2) & (blob == 3)))
PYTHON
rows=(-e e.npy -y y.npy)

wrote() { /usr/bin/python3 "$tests/ci_reads.py" "$@" || fail "$*"; }
ci() { echo --junit "$1.xml" --sarif "$1.sarif" --summary "$1.md"; }

# --- discover: nothing wrong, a blindspot with and without --fail-on, no proof, nothing right
run 0 "" discover "${rows[@]}" -p fine.npy -o fine --fail-on confirmed $(ci fine)
wrote fine tests=1 failures=0 errors=0 skipped=0 warnings=0
grep -qx '\*\*nothing is wrong: 600 of 600 right.\*\*' fine.md || fail "nothing wrong: $(cat fine.md)"
run 0 "" discover "${rows[@]}" -p hole.npy -o hole $(ci hole)
wrote hole failures=0 errors=0 skipped=0 warnings=1
grep -qx '### spotter discover: passed, with warnings' hole.md || fail "a warning: $(cat hole.md)"
refused 1 discover "${rows[@]}" -p hole.npy -o hole --fail-on confirmed $(ci failed) -t 2
wrote failed failures=1 errors=0 skipped=0 warnings=0
grep -qx '### spotter discover: failed' failed.md || fail "failed: $(cat failed.md)"
run 1 "1 slice is confirmed or suggested" discover "${rows[@]}" -p hole.npy -o hole --fail-on suggested --chance 19 --json
grep -q '"status": "CHECK' out || fail "--json: $(head -3 out)"
run 0 "" discover "${rows[@]}" -p hole.npy -o bare --no-proof $(ci bare)
wrote bare failures=0 errors=0 skipped="$(grep -c '<testcase' bare.xml)" warnings=0
run 0 "none of 600 rows is right" discover "${rows[@]}" -p none.npy -o none $(ci none)
grep -q 'nothing is right: all 600 are wrong' none.md || fail "nothing right: $(cat none.md)"

run 0 "" discover "${rows[@]}" -p hole.npy -o bare --no-proof --fail-on nothing
refused 2 discover "${rows[@]}" -p hole.npy -o bare --no-proof --fail-on confirmed

# A shard has no verdict before the others are there: what was there is replaced.
run 0 "" discover "${rows[@]}" -p fine.npy -o shards $(ci shard)
run 0 "" discover "${rows[@]}" -p two.npy -o shards2 --shard 0/2 $(ci shard)
grep -q '<skipped message="there is no verdict yet: classes of other shards are missing">' shard.xml || fail "$(cat shard.xml)"
grep -q '"verdict": "there is no verdict yet' shard.sarif && grep -q 'no verdict yet$' shard.md || fail "$(cat shard.md)"
run 0 "" discover "${rows[@]}" -p two.npy -o shards2 --shard 1/2 $(ci shard)
wrote shard failures=0 errors=0 skipped=0

# The place of a result is a file.
/usr/bin/python3 -c 'import numpy as np; np.savez("run.npz", p=np.load("hole.npy"))'
place() { /usr/bin/python3 -c 'import json, sys
for r in json.load(open(sys.argv[1]))["runs"][0]["results"]:
    print(r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])' "$1" | sort -u; }
run 0 "" discover "${rows[@]}" -p run.npz:p -o member $(ci member)
[ "$(place member.sarif)" = run.npz ] || fail "a member's place: $(place member.sarif)"
run 1 "" compare fine hole --sarif folder.sarif
[ "$(place folder.sarif)" = hole/config.yaml ] || fail "a folder's place: $(place folder.sarif)"

# Names that are markup are text in all three.
grep -q "class &lt;img src=x&gt;|](http://x)? &quot;&amp;'" failed.xml || fail "a name in XML: $(grep -m1 failure failed.xml)"
grep -qF '"class": "<img src=x>|](http://x)\u0001 \"&' failed.sarif || fail "a name in JSON: $(grep class failed.sarif)"

# --- compare: findings and probabilities; a study
run 1 "" compare fine hole.npy --html v2.html $(ci worse)
grep -qF '\<img src=x>\|\](http://x)' worse.md || fail "a name in Markdown: $(cat worse.md)"
wrote worse failures="$(grep -c "<failure" worse.xml)" errors=0 warnings=0
grep -q 'The page: `v2.html`' worse.md || fail "the page: $(cat worse.md)"
run 0 "" compare hole hole.npy $(ci same)
wrote same failures=0 errors=0 warnings=0
run 0 "" compare hole fine.npy --summary worse.md
[ "$(grep -c '^### spotter compare' worse.md)" = 2 ] || fail "a summary is added: $(cat worse.md)"

# --- files of others, links, streams
echo kept > kept.xml
refused 2 compare hole fine.npy --junit kept.xml
refused 2 discover "${rows[@]}" -p fine.npy -o fine --sarif hole/slices.json -t 2
refused 2 compare hole fine.npy --summary e.npy
cp e.npy e2.npy
refused 2 discover -e e.npy -e e2.npy -y y.npy -p fine.npy -o two --replace --junit e2.npy
cp hole.npy second.npy
refused 2 compare hole second.npy --html second.npy --replace
cmp -s hole.npy second.npy && cmp -s e.npy e2.npy || fail "an input is written over"
refused 2 compare hole fine.npy --junit both --summary both
[ "$(cat kept.xml)" = kept ] || fail "a file of others"
run 0 "" compare hole fine.npy --junit kept.xml --replace
: > empty.xml
run 0 "" compare hole fine.npy --junit empty.xml
run 0 "" compare hole fine.npy --junit empty.xml
printf 'no line feed' > target.md
ln -s target.md link.md
run 0 "" compare hole fine.npy --summary link.md
[ -L link.md ] && [ "$(head -1 target.md)" = "no line feed" ] && [ "$(wc -l < target.md)" -gt 5 ] || fail "a link: $(cat target.md)"
spotter compare hole fine.npy --summary /dev/stdout > all.txt 2>err || fail "/dev/stdout"
grep -q "^### spotter compare" all.txt && grep -q "lost: turned wrong" all.txt || fail "/dev/stdout: $(cat all.txt)"
mkfifo pipe
timeout 20 cat pipe > piped &
run 0 "" compare hole fine.npy --junit pipe
wait $!
grep -q '<testsuites' piped || fail "a pipe"
refused 4 compare hole fine.npy --junit nowhere/x.xml --sarif place.sarif
grep -q '"text": "cannot write nowhere/x.xml' place.sarif || fail "the other file does not say what failed"
refused 4 compare hole fine.npy --summary hole
for args in "--html nowhere/x.html" "--html hole" "--html y.npy/x.html --replace" "--junit y.npy/x.xml" "--out y.npy"; do
    refused 4 compare hole fine.npy $args
    [ ! -s out ] && ! grep -q "no test" err || fail "$args: told after the work"
done
refused 4 report hole -o nowhere/x.html
refused 4 check lost.json runs/none --history nowhere/x.jsonl

# A report may lie in the folder that the command makes.
run 0 "" compare hole fine.npy -o later --junit later/ci.xml
run 0 "" discover "${rows[@]}" -p fine.npy -o later_too --sarif later_too/ci.sarif
grep -q '<testsuites' later/ci.xml && grep -q '"version": "2.1.0"' later_too/ci.sarif || fail "a report in a new folder"
refused 2 compare hole fine.npy -o last --junit ./last/versions.csv
refused 2 compare hole fine.npy --junit last/both --sarif ./last/both

# A file that the command reads or writes is no report of it, by whatever name, even with --replace; files of others in its
# folders stay, too. A summary goes to a text.
cp hole/slices.csv slices.kept
mkdir made
printf 'id,label\n' > y.csv
refused 2 compare hole fine.npy --summary y.csv
refused 2 compare hole fine.npy -y n.npy --junit ./n.npy --replace
refused 2 compare hole fine.npy --junit hole/slices.csv --replace
refused 2 compare hole fine.npy --html page.html --sarif made/../page.html
refused 2 compare hole fine.npy -o both_out --junit both.xml --sarif ./both.xml
refused 2 discover "${rows[@]}" -p hole.npy -o hole --junit hole/slices.csv --replace -t 2
refused 2 discover "${rows[@]}" -p ./hole.npy:0 -o hole --sarif hole.npy --replace -t 2
refused 2 compare hole fine.npy -o made --junit made/versions.csv --replace
echo '{}' > nights.jsonl
refused 2 check lost.json runs/none --history nights.jsonl --summary nights.jsonl
refused 2 check y.csv runs/none --junit y.csv --replace
cmp -s hole/slices.csv slices.kept && [ "$(cat y.csv nights.jsonl)" = "$(printf 'id,label\n{}')" ] || fail "an input was written"
: > empty.log
run 0 "" compare hole fine.npy --summary empty.log
GITHUB_STEP_SUMMARY=$PWD/empty.log run 0 "" compare hole fine.npy --summary empty.log
[ "$(grep -c '^### spotter compare' empty.log)" = 2 ] || fail "the step's summary: $(cat empty.log)"

# A file that cannot be read may be anybody's, and one that cannot be written is told before the work.
echo kept > shut.xml
echo kept > shut.md
mkdir shut
chmod 0 shut.xml && chmod 444 shut.md && chmod 555 shut && chmod o+rwx .
user=()
[ "$(id -u)" != 0 ] || user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if "${user[@]}" test -x "$spotter" -a -r hole/slices.csv -a ! -r shut.xml; then
    ends 2 "shut.xml is there" "${user[@]}" "$spotter" compare hole fine.npy --junit shut.xml --sarif early.sarif
    ends 2 "shut.xml is there" "${user[@]}" "$spotter" compare hole fine.npy --html shut.xml
    for args in "--summary shut.md" "--junit shut/x.xml"; do
        ends 4 "cannot write" "${user[@]}" "$spotter" compare hole fine.npy $args
        grep -q "worse\|margin" out && fail "$args: told after the work"
    done
fi
chmod 600 shut.xml
[ "$(cat shut.xml shut.md)" = "$(printf 'kept\nkept')" ] || fail "an unreadable file"

# --- a run that fails
run 4 "" compare hole lost.npy $(ci lost)
wrote lost tests=1 failures=0 errors=1 skipped=0 warnings=0
grep -q '<error type="IO" message="' lost.xml || fail "an error: $(cat lost.xml)"
grep -qx '### spotter compare: not done' lost.md || fail "an error: $(cat lost.md)"
run 4 "" check lost.json runs/none $(ci check)
wrote check tests=1 errors=1

# --- the workflows of the README
cat > blocks.py <<'PYTHON'
import re, sys, yaml
blocks = [yaml.safe_load(b) for b in re.findall(r"```yaml\n(.*?)```", open(sys.argv[1]).read(), re.S)]
github, gitlab = blocks
steps = github["jobs"]["model"]["steps"]
assert all(("run" in s) != ("uses" in s) for s in steps) and github[True] == ["pull_request"]
assert gitlab["model"]["artifacts"]["reports"] == {"junit": "reports/*.xml"}
install = [s["run"] for s in steps if s.get("name", "").startswith("install")] + [" && ".join(gitlab["model"]["before_script"])]
assert len(install) == 2 and all("$SPOTTER_BUNDLE" in s for s in install), install
open("install.sh", "w").write("\n".join(install) + "\n")
lines = [s["run"] for s in steps if "run" in s and s["run"] not in install] + gitlab["model"]["script"]
print("\n".join(line.strip() for line in lines if "evaluate.py" not in line))
PYTHON
mkdir flow && cd flow || exit 1
cp ../e.npy . && cp ../n.npy y.npy && cp ../hole.npy p.npy
/usr/bin/python3 ../blocks.py "$tests/../host/check/README.md" > lines.sh || fail "the workflows are no YAML"
grep -oP '`\Kspotter discover[^`]*--out released' "$tests/../host/check/README.md" > first.sh || fail "no first line"
cp ../fine.npy p.npy
GITHUB_STEP_SUMMARY=$PWD/step.md
export GITHUB_STEP_SUMMARY
. ./first.sh >out 2>err || fail "first: $(cat err)"
cp ../hole.npy p.npy
# The installation, if there is curl: of a bundle that holds the program alone.
if command -v curl >/dev/null; then
    mkdir -p bundle/spotter/bin && cp "$spotter" bundle/spotter/bin/ && tar -czf spotter.tar.gz -C bundle spotter
    while read -r line; do
        rm -rf spotter
        (export GITHUB_PATH=$PWD/path SPOTTER_BUNDLE=file://$PWD/spotter.tar.gz
         eval "$line" && spotter/bin/spotter --version) >out 2>err || fail "the installation: $line: $(cat err)"
    done < install.sh
    [ "$(cat path)" = "$PWD/spotter/bin" ] || fail "the path of the installation: $(cat path)"
fi

codes=
while read -r line; do
    eval "$line" >out 2>err </dev/null
    codes+="$? "
done < lines.sh
[ "$codes" = "0 1 1 0 1 " ] || fail "the workflow's exit codes: $codes: $(cat err)"
[ "$(grep -c '^### spotter' step.md)" = 2 ] || fail "the step's summary: $(cat step.md)"
[ "$(ls reports)" = "$(printf '%s\n' compare.html compare.sarif compare.xml discover.sarif discover.xml)" ] || fail "$(ls reports)"
cd ..

[ $failed = 0 ] && echo "the verdicts are read by others"
exit $((failed > 0))
