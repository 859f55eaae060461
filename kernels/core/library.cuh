/* library.cuh - the vendor's libraries are opened at run time, so that neither the build nor the plugin's loading needs
 * them. */
#ifndef SPOTTER_LIBRARY_CUH
#define SPOTTER_LIBRARY_CUH

#include <stddef.h>

/* Opens `file` ("libcudnn.so.9"); NULL when it is not found. If the environment variable `own` is set, it searches only that
 * folder. Else it searches where the loader does (LD_LIBRARY_PATH), then the packages of $VIRTUAL_ENV and of each python3 on
 * the PATH, then $CUDA_HOME or CUDA's usual folder. where: the opened file. looked: the searched places, for the message. */
void *spot_library_open(const char *file, const char *own, char *where, size_t where_size, char *looked, size_t looked_size);

#endif
