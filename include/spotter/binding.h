/* binding.h - sizes of structs and constants that a binding in another language repeats. It compares them before it calls. */
#ifndef SPOTTER_BINDING_H
#define SPOTTER_BINDING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *name;          /* "spot_view", "spot_config.bdm", or "SPOT_LAYERS" */
    size_t      bytes;         /* sizeof, offsetof, or the constant itself (a length of arrays) */
} spot_binding_row;

/* (*count) rows that live as long as the library. */
const spot_binding_row *spot_binding(int *count);

/* "0.1.0" */
const char *spot_version(void);

#ifdef __cplusplus
}
#endif
#endif
