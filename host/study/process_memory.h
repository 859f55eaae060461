/* process_memory.h - the memory of a whole process, as a study states it before it begins. */
#ifndef SPOTTER_PROCESS_MEMORY_H
#define SPOTTER_PROCESS_MEMORY_H

#include <stddef.h>

#include "spotter/ctx.h"

/* Bytes of this process without a study's values: what is resident now, and what libraries add while networks run. */
size_t spot_process_memory(void);

/* A copy of c that neither logs nor tells progress: networks are opened to learn their memory, and the run opens them again. */
spot_ctx spot_quiet_of(const spot_ctx *c);

#endif
