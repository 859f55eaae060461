#!/usr/bin/env bash
# test_labels.sh BUILD: labels, probabilities and features as people write them: the wrong rows are numpy's, or a sentence names
# what does not fit.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "needs python3-numpy"; exit 77; }
cd "$dir" || exit 1
/usr/bin/python3 "$tests/labels_oracle.py" "$spotter" || fail "labels_oracle.py"
exit $((failed > 0))
