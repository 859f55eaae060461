/* hd.h - SPOT_HD marks a function that C and CUDA compile, the latter for host and device. */
#ifndef SPOTTER_HD_H
#define SPOTTER_HD_H

#ifdef __CUDACC__
#define SPOT_HD __host__ __device__
#else
#define SPOT_HD
#endif

#endif
