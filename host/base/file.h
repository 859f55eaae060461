/* file.h - parts of writing a file whole or not at all, for those who write several files at once. spot_file_write and
 * spot_file_read, which most code uses, are in include/spotter/store.h. */
#ifndef SPOTTER_FILE_H
#define SPOTTER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "spotter/ctx.h"

/* Writes all n bytes; makes a file safe with fsync; makes the names in the folder of path safe. 0 or errno. */
int spot_write_all(int fd, const void *bytes, size_t n);
int spot_sync_file(const char *path);
int spot_sync_folder_of(const char *path);

/* Opens a regular file for reading. -1 (NULL) and errno otherwise, ENODEV for a pipe or a device: nothing waits for the writer
 * of a pipe that lies in a foreign folder. A stream may also be the pipe of a shell, such as /dev/fd/63. */
int   spot_file_open(const char *path);
FILE *spot_file_stream(const char *path);

/* The words for an errno of the two. */
const char *spot_file_reason(int error);

/* Writes to path the bytes that fill writes, whole or not at all. A device or a pipe is written into. */
spot_status spot_file_fill(spot_ctx *c, const char *path, bool (*fill)(FILE *f, const void *what), const void *what);

#endif
