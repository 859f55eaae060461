/* file.h - files that are written whole or not at all, and the steps of it for code that writes several files together. */
#ifndef SPOTTER_FILE_H
#define SPOTTER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "spotter/ctx.h"

/* Write all n bytes; fsync a file; fsync the folder that holds path. Each returns 0 or errno. */
int spot_write_all(int fd, const void *bytes, size_t n);
int spot_sync_file(const char *path);
int spot_sync_folder_of(const char *path);

/* Open a regular file for reading. On failure -1 (NULL) and errno; ENODEV for a pipe or a device, because opening a pipe would
 * wait for its writer. spot_file_stream also accepts a pipe of the shell, such as /dev/fd/63; while nothing comes, c's stop
 * flag makes reading fail with EINTR. */
int   spot_file_open(const char *path);
FILE *spot_file_stream(const spot_ctx *c, const char *path);

/* Text for an errno of these two functions. */
const char *spot_file_reason(int error);

/* SPOT_IO: cannot VERB PATH, why, and what to do. error: an errno. verb: "read", "write". */
spot_status spot_file_failed(spot_ctx *c, const char *verb, const char *path, int error);

/* spot_file_write of a regular file without fsync: a power cut may damage it. */
spot_status spot_file_write_unsynced(spot_ctx *c, const char *path, const void *bytes, size_t n);

/* Writes the file through fill(f, user), whole or not at all. A device or a pipe is written directly. */
spot_status spot_file_fill(spot_ctx *c, const char *path, bool (*fill)(FILE *f, const void *user), const void *user);

/* ---- whole files ---- */

/* Writes bytes to path, whole or not at all. SPOT_IO names the path and the reason. Where path is a device or a pipe, such
 * as /dev/stdout, it writes into it and does not replace it. */
spot_status spot_file_write(spot_ctx *c, const char *path, const void *bytes, size_t n);
/* Adds text to a file, which is made if it is not there, with one write and a sync; a link is followed, a device or a pipe is
 * written. Where the file ends amid a line, a line feed comes first. */
spot_status spot_file_append(spot_ctx *c, const char *path, const void *text, size_t n);
/* SPOT_IO where neither could write path now: a folder is there, or none that is open holds it. A run of hours asks before it
 * begins. adds: it is spot_file_append that will write. */
spot_status spot_file_place (spot_ctx *c, const char *path, bool adds);
/* The first n bytes of a regular file at most, into bytes; their number. -1: there is no file, or no way to it; -2: it is no
 * regular file; -3: it cannot be read. */
int         spot_file_peek  (const char *path, char *bytes, size_t n);
/* Whether a file that begins with `head`, of 127 bytes at most, may take the place of what is at path: nothing, an empty file,
 * no regular file, or one that begins so. */
bool        spot_file_is_ours(const char *path, const char *head);
/* spot_file_write in steps. begin opens a new file beside path and writes its name to temp. commit makes the closed file
 * durable: fsync, rename, fsync; another library may have written it. abort removes it and returns a failure with the errno
 * `error`. */
spot_status spot_file_begin (spot_ctx *c, char *temp, size_t size, const char *path, int *fd);
spot_status spot_file_commit(spot_ctx *c, const char *temp, const char *path);
spot_status spot_file_abort (spot_ctx *c, const char *temp, const char *path, int error);
/* Reads a whole file into a malloc'd buffer with a NUL after its end. Refuses more than `limit` bytes, pipes and devices. */
spot_status spot_file_read(spot_ctx *c, const char *path, unsigned char **bytes, size_t *n, size_t limit);

#endif
