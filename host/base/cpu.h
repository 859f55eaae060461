/* cpu.h - whether this CPU has the instructions that the program was compiled for. On another CPU the first of them would end
 * the process by SIGILL, without a sentence. */
#ifndef SPOTTER_CPU_H
#define SPOTTER_CPU_H

/* The sets of instructions beyond x86-64 that a compiler may take by -march: NAME as in its macros, name as it asks the CPU. */
#define SPOT_CPU_SETS(X)                                                                                                     \
    X(SSE3, "sse3") X(SSSE3, "ssse3") X(SSE4_1, "sse4.1") X(SSE4_2, "sse4.2") X(POPCNT, "popcnt") X(AVX, "avx")              \
    X(AVX2, "avx2") X(FMA, "fma") X(BMI, "bmi") X(BMI2, "bmi2") X(AVX512F, "avx512f") X(AVX512BW, "avx512bw")                \
    X(AVX512CD, "avx512cd") X(AVX512DQ, "avx512dq") X(AVX512VL, "avx512vl") X(AVX512VBMI, "avx512vbmi")                      \
    X(AVX512VNNI, "avx512vnni")

enum {
#define X(NAME, name) SPOT_CPU_##NAME,
    SPOT_CPU_SETS(X)
#undef X
    SPOT_CPU_COUNT
};

extern const unsigned spot_cpu_compiled;       /* bit SPOT_CPU_X: this build has instructions of the set X */

/* The first set that this build was compiled for and that this CPU lacks, such as "avx2"; NULL: it has all. Any x86-64 can
 * call it. */
const char *spot_cpu_lacks(void);

#endif
