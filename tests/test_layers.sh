#!/usr/bin/env bash
# test_layers.sh BUILD - the rules of the design that a compiler does not check: what stands at the top of the repository, who
# may use whom, who may print or exit, and what a CUDA kernel must not do.
set -euo pipefail

build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
errors=0
# complain WHAT: one line of stdin is one violation.
complain()
{
    while IFS= read -r line; do
        echo "$1: $line"
        errors=$((errors + 1))
    done
}

files() { find "$@" -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null | sort; }

# --- The top level is fixed.
if git rev-parse --git-dir >/dev/null 2>&1; then top=$(git ls-files | cut -d/ -f1 | sort -u)
else top=$(ls | grep -vE '^(build.*|runs)$'); fi
allowed='CMakeLists.txt|kernels|host|include|bench|tests|configs|tools|README.md|LICENSE|\..*'
complain "not allowed at the top level" < <(grep -vxE "$allowed" <<< "$top")

# --- Who uses whom, by the symbols of the object files and by #include lines; names that have two meanings (layers.py).
python3 tests/layers.py "$build" || errors=$((errors + 1))

# --- spotter.h is a tour of all public headers, which are few.
complain "the tour in spotter.h" < <(
    diff <(grep -oP '^#include "spotter/\K\w+\.h' include/spotter/spotter.h | sort) \
         <(ls include/spotter | grep -vx spotter.h) || true
    ls include/spotter | sed 1,38d)

# --- No list of parameters that nobody can read.
python3 tests/parameters.py || errors=$((errors + 1))

# --- Nothing below host/cli prints or exits, but for spotter-mesh, a program of its own beside the reader that starts it.
speaks='(^|[^_[:alnum:]])(v?printf|puts|putchar|perror|exit|_exit|abort|errx?|warnx?) *\(|fprintf *\( *std(err|out)'
complain "prints or exits below host/cli" < <(
    files include kernels host | grep -vE '^host/(cli/|worlds/mesh_parser.c)' | xargs grep -nE "$speaks" || true)

# --- A file is opened for reading by spot_file_open, which does not wait for the writer of a pipe. /proc has no pipes.
complain "opens a file for reading past base/file.h" < <(
    files host | grep -vE '^host/(base/(room|platform)|study/run_claim)\.c' |
        xargs grep -nE '\bfopen\([^)]*"r' || true)

# --- A failure's id is subject.fault, and fits into a context (spotter/status.h).
complain "no id of a failure" < <(
    files kernels host | xargs grep -nE '"\{[^"}]*\} ' | grep -vE '"\{[a-z0-9_]+\.[a-z0-9_]+\} ' || true)
complain "an id of more than 47 bytes" < <(files kernels host | xargs grep -nE '"\{[a-z0-9_.]{48,}\} ' || true)

# --- What kernels must not do, so that the block emulator can run them and results have the same bits everywhere. Float
# atomics do not compile there; these do, or would.
forbidden=(
    '<<<'                                      'say SPOT_LAUNCH'
    '__shared__'                               'say SPOT_SHARED'
    '\basm\b'                                  'no inline PTX'
    'cooperative_groups|\bcg::|grid_group'     'no grid barriers and no groups'
    'wgmma|mbarrier|cuda::(pipeline|barrier)'  'no hardware that the emulator lacks'
    '__cluster|cluster_dims|cluster_group'     'no clusters'
    '__activemask'                             'a mask is known, not asked for'
    '__(shfl(_up|_down|_xor)?|ballot|any|all) *\(' 'say the one with _sync'
    '\btex[123]D|cudaTextureObject|surf[123]D' 'no textures'
    '__nanosleep|\bvolatile\b'                 'no waiting for other blocks'
    '__(expf|logf|log2f|exp10f|powf|sinf|cosf|tanf|fdividef|frcp_rn_ftz) *\(' 'no approximate arithmetic'
    'cub/|<thrust'                             'results of CUB depend on the device; write the fixed order'
)
kernels() { files kernels | grep -E '\.cu$|\.cuh$' | xargs grep -nHE "$1" | grep -v '^kernels/core/cuda\.cuh:' || true; }
for ((i = 0; i < ${#forbidden[@]}; i += 2)); do
    complain "kernels: ${forbidden[i + 1]}" < <(kernels "${forbidden[i]}")
done
complain "kernels: no fast math" < <(
    grep -nE 'use_fast_math|ffast-math|Ofast|funsafe-math' CMakeLists.txt kernels/*.cmake || true)

# --- A clone works wherever it lies.
complain "a path of one machine" < <(
    grep -rnIE '/(work|home|root|mnt)/[a-z]' CMakeLists.txt kernels host include bench tests configs tools README.md .ci \
        --exclude=test_layers.sh 2>/dev/null || true)

[ $errors -eq 0 ] && echo "the layers hold"
exit $((errors > 0))
