/* lanes.h - include it before the loops that must fill a whole vector register. gcc splits 512-bit vectors in two unless
 * it is told, and keeps branches around arithmetic in case it raises an exception flag, which nobody here reads. Neither
 * changes a result: no loop of ours adds across lanes. */
#ifndef SPOTTER_LANES_H
#define SPOTTER_LANES_H

#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#pragma GCC optimize("no-trapping-math")
#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=512")
#endif
#endif

#endif
