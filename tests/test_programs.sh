#!/usr/bin/env bash
# test_programs.sh BUILD: what `spotter help programs` says to other programs is true: every command and option of its examples
# is there, and outputs are as the schemas say.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
[ -x "$spotter" ] || { echo "skipped: there is no $spotter"; exit 77; }
run 0 "" help programs
cmp "$dir/out" ../tools/python/spotter/llms.txt || fail "help programs is another text than llms.txt"
/usr/bin/python3 - "$spotter" "$dir/out" <<'PY' || fail "llms.txt"
import re
import subprocess
import sys

wrong, shown, text = [], {}, open(sys.argv[2]).read()


def help_of(command):
    if command not in shown:
        done = subprocess.run([sys.argv[1], command, "--help-all"], capture_output=True, text=True)
        shown[command] = done.stdout if done.returncode == 0 else None
    return shown[command]


def check(command, words):
    if command == "help":
        return
    if help_of(command) is None:
        return wrong.append(f"there is no command {command}")
    for option in re.findall(r"(?<!\S)(--?[a-z][a-z-]*)", words):
        if not re.search(rf"(?<![\w-]){option}(?![\w-])", help_of(command)):
            wrong.append(f"{command} has no {option}")


lines = re.findall(r"(?:^ {4}|`)spotter ([a-z]+)(.*?)(?:`|#|$)", text, re.M)
for command, words in lines:
    check(command, words)
for option in re.findall(r"`(--[a-z-]+)[^`]*`", text):                    # outside an example: of discover
    check("discover", option)
assert len(lines) > 10 and not wrong, wrong
PY

# The schemas.
run 0 "" help schema
cmp "$dir/out" ../tools/python/spotter/slices.schema.json || fail "help schema"
run 0 "" help schema json
cp "$dir/out" "$dir/schema"
run 0 "" demo --out "$dir/demo"
run 0 "" discover "$dir/demo/rows.yaml" --out "$dir/found" --no-report --json
/usr/bin/python3 - "$dir" <<'PY' || fail "an output is not as its schema says"
import json
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(0)
folder = sys.argv[1]
last = json.load(open(f"{folder}/out"))
schema = json.load(open(f"{folder}/schema"))
jsonschema.validate(last, schema)
assert not set(last) - set(schema["properties"]), "members that the schema does not name"
PY
[ $failed = 0 ] || exit 1
echo "help programs is true"
