#!/usr/bin/env bash
# 100,000 fuzzed texts against transformers and the vocabulary of open_clip, where they are installed. 77: they are not.
# ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
vocabulary=(open_clip)
[ -z "${SPOT_CLIP_VOCABULARY:-}" ] || vocabulary=()
need_packages transformers tokenizers "${vocabulary[@]}"
"$python" ../tools/golden/bpe.py --against "$build/test_bpe" 2>&1
