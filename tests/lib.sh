# lib.sh - what the scripts share, sourced with BUILD as $1: $build and $spotter in full, $dir, a folder of the script's own
# that goes with it, and the functions below.
build=$(realpath "$1")
spotter=$build/spotter
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d)
failed=0

# At the end of a script that passed, what `refused` heard is compared with tests/golden/words.
leave()
{
    local code=$?
    [ $code -ne 0 ] || [ ! -e "$dir/.heard" ] ||
        /usr/bin/python3 "$tests/golden_words.py" "${0##*/}" "$dir/.heard" "$dir=DIR" "$build=BUILD" \
                         "${tests%/tests}=SOURCE" || code=1
    rm -rf "$dir"
    exit $code
}
trap leave EXIT

# fail WORDS...: under set -e it ends the script; elsewhere `failed` counts.
fail()
{
    echo "FAILED: $*"
    failed=$((failed + 1))
    case $- in *e*) exit 1 ;; esac
}

# ends CODE WORDS COMMAND...: the exit code, within $limit seconds (120), and words on stderr ("" for any). What it said is in
# $dir/out and $dir/err.
ends()
{
    local code=$1 words=$2 got
    shift 2
    timeout "${limit:-120}" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    [ $got -eq "$code" ] || fail "$*: exit code $got, not $code: $(head -c 300 "$dir/err")"
    [ -z "$words" ] || grep -qF -- "$words" "$dir/err" || fail "$*: stderr lacks '$words': $(head -c 300 "$dir/err")"
}

# python_with PACKAGE...: prints a python3 that has these packages: $PYTHON; where that is not set Debian's, or the one of
# tools/setup --tests, which has packages that Debian lacks. Fails where there is none.
python_with()
{
    local one others=(/usr/bin/python3 "$tests/../build-oracles/bin/python3")

    [ -z "${PYTHON:-}" ] || others=("$PYTHON")
    for one in "${others[@]}"; do
        "$one" -c 'import importlib.util as u, sys
sys.path = [p for p in sys.path if p]
sys.exit(not all(map(u.find_spec, sys.argv[1:])))' "$@" 2>/dev/null || continue
        echo "$one"
        return
    done
    return 1
}

# need_packages PACKAGE...: $python is a python3 that has them; where there is none the script ends as skipped.
need_packages() { python=$(python_with "$@") || { echo "no Python with $*: skipped"; exit 77; }; }

# has_browser: whether there is a Chromium for the pages.
has_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null

# run CODE WORDS ARGS...: the same of spotter.
run() { ends "$1" "$2" "$spotter" "${@:3}"; }

# refused CODE ARGS...: spotter fails with the exit code, and with the sentence that tests/golden/words has for these arguments;
# golden_words.py says how a better sentence gets there.
refused()
{
    run "$1" "" "${@:2}"
    heard "${@:2}"
}

# heard ARGS...: the same for a command that has run, with its stderr in $dir/err.
heard() { { echo "\$ spotter $*" | tr -s ' '; grep -E '^spotter( [a-z]+)?: ' "$dir/err" || cat "$dir/err"; } >>"$dir/.heard"; }

# tiny ECS: the settings of a sweep of seconds.
tiny()
{
    cat <<END
seed: 1
ecs: $1
scene: {size: 32, rollable: [4, 4], blindspots: [1, 1], specificity: [3, 3], per_bucket: {train: 8, val: 4, test: 8}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3}
bdms: [{reduce: pca, mixture: {k_max: 4}}]
END
}
