/* lanes.h - include it before loops that must fill a whole vector register. By default gcc splits 512-bit vectors in two,
 * and keeps branches around arithmetic that could raise an exception flag; our code never reads such flags. Neither setting
 * changes a result: none of our loops adds across lanes. */
#ifndef SPOTTER_LANES_H
#define SPOTTER_LANES_H

#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#pragma GCC optimize("no-trapping-math")
#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=512")
#endif
#endif

#endif
