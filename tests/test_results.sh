#!/usr/bin/env bash
# test_results.sh BUILD: bench/RESULTS.md and the tables of bench/studies are what bench/results.py writes, each line names its
# machine and its numbers, each quoted commit exists or is said to be gone, and README's figures are those of bench/RESULTS.md.
# Then a fault is planted for each of these in a copy of the pages, and the check has to name it.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
quoted=$root/tests/quoted.py

python3 "$root/bench/results.py" --check || fail "bench: see above"
python3 "$quoted" "$root" readme || fail "README.md: see above"
commits=0
python3 "$quoted" "$root" commits || commits=$?
[ $commits -eq 0 ] || [ $commits -eq 77 ] || fail "commits: see above"

# planted FILE SED-SCRIPT WORDS COMMAND...: in a copy in which sed has changed FILE the command fails and says the words.
planted()
{
    local file=$1 change=$2 words=$3
    shift 3
    rm -rf "$dir/tree"
    mkdir "$dir/tree"
    cp -r "$root/README.md" "$root/bench" "$dir/tree"
    sed -i "$change" "$dir/tree/$file"
    ! cmp -s "$root/$file" "$dir/tree/$file" || fail "$file: nothing planted by $change"
    ! "$@" > "$dir/said" 2>&1 || fail "$file: nobody sees $change"
    grep -qF -- "$words" "$dir/said" || fail "$change: nobody says '$words': $(head -c 300 "$dir/said")"
}
# cannot_tell TREE WORDS: whether commits exist is not known there, which is said.
cannot_tell()
{
    local code=0
    python3 "$quoted" "$1" commits > "$dir/said" || code=$?
    [ $code -eq 77 ] && grep -q "$2" "$dir/said" || fail "$1: exit code $code: $(cat "$dir/said")"
}
check=(python3 "$dir/tree/bench/results.py" --check)
readme=(python3 "$quoted" "$dir/tree" readme)
line=bench/results/gpu.jsonl

planted bench/RESULTS.md '17s/met/missed/' "bench/RESULTS.md: not what" "${check[@]}"
planted bench/studies/hard.md 's/^| joinspot | 0\.[0-9]*/| joinspot | 7.777/' "bench/studies/hard.md: not what" "${check[@]}"
planted $line '1s/"numbers": null, //' "$line:1: it lacks numbers" "${check[@]}"
planted $line '1s/"machine": "[A-Z0-9]*"/"machine": "Z"/' "$line:1: machines.json has no machine Z" "${check[@]}"
planted $line '1s/"asked": 1.0/"asked": "much"/' "$line:1: asked is no number" "${check[@]}"
planted $line '1s/"better": "higher", //' "$line:1: asked or aim without better" "${check[@]}"
planted $line '$s/}$/, "colour": "red"}/' "nobody reads colour" "${check[@]}"
planted $line '1s/^{/{ {/' "$line:1: " "${check[@]}"
planted bench/results/runs.jsonl '$s/.*/&\n&/; $s/"date": "[0-9-]*"/"date": "2026-11-20"/2' "older than the line before it" "${check[@]}"
planted bench/results/shown.json 's/"units lost"/"units found"/' "no line has op \"units found\"" "${check[@]}"
planted README.md 's/49.6 times as fast/91 times as fast/' "91 times: not in bench/RESULTS.md" "${readme[@]}"
planted README.md 's/^| cem | 500 | 0\.[0-9]*/| cem | 500 | 7.777/' "7.777: no figure of bench/results" "${readme[@]}"

if [ $commits -eq 0 ]; then
    export GIT_DIR GIT_WORK_TREE=$dir/tree
    GIT_DIR=$(git -C "$root" rev-parse --absolute-git-dir)
    history=(python3 "$quoted" "$dir/tree" commits)
    planted bench/results/methods.jsonl '1s/29989dc/29989dd/' "methods.jsonl:1: 29989dd: not in this history" "${history[@]}"
    planted bench/studies/hard.md 's/8c094400/8c094401/' "8c094401: not in this history" "${history[@]}"
    planted bench/results/methods.jsonl 's/cannot be checked out/is old/' "5aab297: not in this history" "${history[@]}"
    planted bench/RESULTS.md 's/10e0d98/10e0d98 (gone)/' "10e0d98: can be checked out" "${history[@]}"
    unset GIT_DIR GIT_WORK_TREE
    git clone -q --depth 1 --no-checkout "file://$root" "$dir/shallow"
    cannot_tell "$dir/shallow" 'or a shallow clone'
fi
mkdir "$dir/plain"
cannot_tell "$dir/plain" 'no git here'
