#!/usr/bin/env bash
# test_python_exchange.sh BUILD: what Python exchanges with packages that Debian does not have: pyarrow, cleanlab, fiftyone.
# PYTHON is the python3 that has them, else that of tools/setup --tests, which has pyarrow; a test whose package is missing is
# skipped, and one that needs fiftyone's mongod where there is none. 77: there is none of them. It has passed with pyarrow
# 26.0.1, pandas 3.1.1, jsonschema 4.26.0, numpy 2.4.6, cleanlab 2.9.0 with datasets 5.2.0; and with fiftyone 1.22.1 on a
# database in memory (mongomock 4.3.0) in place of mongod.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ -e "$build/libspotter.so" ] || { echo "skipped: there is no $build/libspotter.so"; exit 77; }
python=$(python_with pyarrow || python_with cleanlab || python_with fiftyone) ||
    { echo "no pyarrow, cleanlab, fiftyone: skipped"; exit 77; }
export PYTHONPATH=$PWD/../tools/python SPOTTER_LIBRARY=$build/libspotter.so PYTHONDONTWRITEBYTECODE=1
cd "$dir"
"$python" "$OLDPWD/test_python_exchange.py" "$build/spotter"
"$python" "$OLDPWD/test_python_dataset.py" "$build/spotter"
[ -n "${PYTHON:-}" ] || exit 0                       # with Debian's Python the rest runs in test_python.sh
"$python" -W ignore "$OLDPWD/test_python_discover.py" "$build/spotter"
/usr/bin/python3 "$OLDPWD/detector_data.py" detector 120
"$python" "$OLDPWD/test_python_detections.py" "$build/spotter" fiftyone
