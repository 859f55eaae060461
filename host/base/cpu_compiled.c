/* cpu_compiled.c - the sets of instructions that the rest of the program is compiled for. It holds a number and no code, so
 * that it can be compiled as the rest is. */
#include "base/cpu.h"

#define HAS(NAME) (1u << SPOT_CPU_##NAME)

const unsigned spot_cpu_compiled = 0
#ifdef __SSE3__
    | HAS(SSE3)
#endif
#ifdef __SSSE3__
    | HAS(SSSE3)
#endif
#ifdef __SSE4_1__
    | HAS(SSE4_1)
#endif
#ifdef __SSE4_2__
    | HAS(SSE4_2)
#endif
#ifdef __POPCNT__
    | HAS(POPCNT)
#endif
#ifdef __AVX__
    | HAS(AVX)
#endif
#ifdef __AVX2__
    | HAS(AVX2)
#endif
#ifdef __FMA__
    | HAS(FMA)
#endif
#ifdef __BMI__
    | HAS(BMI)
#endif
#ifdef __BMI2__
    | HAS(BMI2)
#endif
#ifdef __AVX512F__
    | HAS(AVX512F)
#endif
#ifdef __AVX512BW__
    | HAS(AVX512BW)
#endif
#ifdef __AVX512CD__
    | HAS(AVX512CD)
#endif
#ifdef __AVX512DQ__
    | HAS(AVX512DQ)
#endif
#ifdef __AVX512VL__
    | HAS(AVX512VL)
#endif
#ifdef __AVX512VBMI__
    | HAS(AVX512VBMI)
#endif
#ifdef __AVX512VNNI__
    | HAS(AVX512VNNI)
#endif
    ;
