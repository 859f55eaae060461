/* lanes.h - include it before the loops that must fill a whole vector register. gcc splits 512-bit vectors in two unless
 * it is told; which width it takes never changes a result, since no loop of ours adds across lanes. */
#ifndef SPOTTER_KERNELS_LANES_H
#define SPOTTER_KERNELS_LANES_H

#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("prefer-vector-width=512")
#endif

#endif
