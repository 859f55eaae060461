#!/usr/bin/env bash
# 100,000 fuzzed texts against transformers and the vocabulary of open_clip, where they are installed. 77: they are not.
# ctest: long
set -euo pipefail
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import importlib.util as u, os, sys
has = all(map(u.find_spec, ("transformers", "tokenizers")))
sys.exit(not (has and (os.environ.get("SPOT_CLIP_VOCABULARY") or u.find_spec("open_clip"))))' ||
    { echo "no transformers, or no vocabulary of CLIP: skipped"; exit 77; }
"$python" ../tools/golden/bpe.py --against "$1/test_bpe" 2>&1
