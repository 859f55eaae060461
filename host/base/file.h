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

/* Writes to path the bytes that fill writes, whole or not at all. */
spot_status spot_file_fill(spot_ctx *c, const char *path, bool (*fill)(FILE *f, const void *what), const void *what);

#endif
