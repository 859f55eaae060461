#!/usr/bin/env bash
# test_philox.sh BUILD: kernels/core/philox.h gives the same bits with cuRAND's Philox, as CUDA code has it, and with
# Random123's, as the CPU has it: a million blocks of random counters and seeds, and numbers of all kinds. Both are compiled for
# the CPU; on a device cuRAND's header differs only in how it multiplies two words.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cuda='' nvcc=$(command -v nvcc || echo /usr/bin/nvcc)
for place in ${CUDA_HOME:+"$CUDA_HOME"} "$(dirname "$nvcc")/.." /usr/local/cuda /usr/local/cuda-*; do
    [ -n "$cuda" ] || [ ! -e "$place/include/curand_philox4x32_x.h" ] || cuda=$place/include
done
[ -n "$cuda" ] || { echo "skipped: no curand_philox4x32_x.h in CUDA_HOME, beside nvcc or in /usr/local/cuda*"; exit 77; }

cat >"$dir/one.h" <<'END'
#include "core/philox.h"
#ifdef SPOT_CURAND
extern "C" int is_curand(void);
extern "C" int is_curand(void) { return 1; }
extern "C" void curand_block(uint32_t *, const uint32_t *, uint64_t);
extern "C" double curand_number(uint64_t, uint32_t, uint32_t *);
#define BLOCK curand_block
#define NUMBER curand_number
#else
#define BLOCK random123_block
#define NUMBER random123_number
#endif
void BLOCK(uint32_t *out, const uint32_t *counter, uint64_t seed) { spot_philox4x32_10(out, counter, seed); }
double NUMBER(uint64_t seed, uint32_t i, uint32_t *below)
{
    spot_rng r = spot_philox_at(seed, SPOT_RNG_INIT, i, i / 3);

    *below = spot_philox_below(&r, i + 1);
    double normal = spot_philox_normal(&r);
    return normal + spot_philox_uniform(&r);
}
END
{ echo '#include <vector_functions.h>'; cat "$dir/one.h"; } >"$dir/curand.cpp"
cat "$dir/one.h" - >"$dir/main.c" <<'END'
#include <stdio.h>
int is_curand(void);
void curand_block(uint32_t *, const uint32_t *, uint64_t);
double curand_number(uint64_t, uint32_t, uint32_t *);
int main(void)
{
    uint64_t x = 1, seed;
    uint32_t at[4], a[4], b[4], m = 0, n = 0;

    for (int i = 0; i < 1000000; i++) {
        for (int k = 0; k < 6; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            if (k < 4) at[k] = i % 3 ? (uint32_t)(x >> 32) : (uint32_t)(x >> 62) - 2;      /* also near 0 and 2^32 */
        }
        seed = i % 5 ? x ^ x >> 29 : (uint64_t)i - 10;
        curand_block(a, at, seed), random123_block(b, at, seed);
        if (memcmp(a, b, sizeof a)) return printf("block %d differs: %x and %x\n", i, a[0], b[0]), 1;
    }
    for (uint32_t i = 0; i < 100000; i++)
        if (curand_number(i, i, &m) != random123_number(i, i, &n) || m != n) return printf("address %u differs\n", i), 1;
    return !is_curand();
}
END
common=(-O2 -ffp-contract=off -w -I ../include -I ../kernels)
"${CXX:-g++}" "${common[@]}" -std=c++17 -D__CUDACC__ -D__forceinline__=inline -isystem "$cuda" -isystem "$cuda/cccl" \
    -c "$dir/curand.cpp" -o "$dir/curand.o" || fail "philox.h with $cuda"
"${CC:-gcc}" "${common[@]}" -std=gnu11 "$dir/main.c" "$dir/curand.o" -lm -o "$dir/compare" || fail "philox.h on the CPU"
"$dir/compare" || fail "cuRAND and Random123 differ"
echo "cuRAND's Philox in $cuda has Random123's bits"
