/* library.cuh - the vendor's libraries are opened at run time, so that neither the build nor the plugin's loading needs
 * them. */
#ifndef SPOTTER_LIBRARY_CUH
#define SPOTTER_LIBRARY_CUH

#include <stddef.h>

/* Opens `file` ("libcudnn.so.9"); NULL when it is not to be had. Only in the folder that the variable `own` of the
 * environment names, if it is set. Else where the loader looks (LD_LIBRARY_PATH), then among the packages of each python3
 * on the PATH and of $VIRTUAL_ENV, then in $CUDA_HOME or CUDA's usual folder. where: the file that was taken. looked: the
 * places, for the message. */
void *spot_library_open(const char *file, const char *own, char *where, size_t where_size, char *looked, size_t looked_size);

#endif
