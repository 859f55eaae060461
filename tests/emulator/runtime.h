/* runtime.h - what the scheduler tells the emulator's runtime. */
#ifndef SPOTTER_EMULATOR_RUNTIME_H
#define SPOTTER_EMULATOR_RUNTIME_H

#include "cuda_runtime.h"

/* Keeps the first failure until cudaGetLastError. */
void emu_launch_failed(cudaError_t e, const char *text);

/* False, with words about the first one, when somebody wrote into the red zone of a device buffer. */
bool emu_check_buffers(char *text, size_t size);

/* Whether the page that p lies in is device memory. */
bool emu_is_device(const void *p);

/* "byte 4 of a device buffer of 16 bytes" */
void emu_words_of_memory(const void *p, char *text, size_t size);

/* The clock of events goes only so far as those say who stand in for libraries: kernels take no time. */
void emu_pass_time(double ms);

/* Device memory is there for kernels and copies, and for nobody else. */
void emu_open_memory(bool open);

#endif
