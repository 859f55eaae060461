/* nvToolsExt.h - stands in for NVTX's: ranges are the stages of calls.h. */
#ifndef SPOTTER_EMULATOR_NVTX_H
#define SPOTTER_EMULATOR_NVTX_H

#define NVTX_VERSION 3

int nvtxRangePushA(const char *name);
int nvtxRangePop();

#endif
