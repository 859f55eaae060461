/* fuzz_file.h - bytes as files, for readers that take a name. CMake links targets that include this with --wrap, so that what
 * opens or looks for a file finds these few, in memory: an input takes microseconds and nothing is left anywhere. Each is a
 * file of its own (st_ino). All other names are the fuzzer's own business. */
#ifndef SPOTTER_TESTS_FUZZ_FILE_H
#define SPOTTER_TESTS_FUZZ_FILE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE                    /* include this first */
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_FILES = 8 };

static struct { char name[1300]; const void *bytes; size_t n; } fuzz_files[FUZZ_FILES];

/* File k has this name and these bytes, until the next call. */
static inline const char *fuzz_file(int k, const char *name, const void *bytes, size_t n)
{
    snprintf(fuzz_files[k].name, sizeof fuzz_files[k].name, "%s", name);
    fuzz_files[k].bytes = bytes;
    fuzz_files[k].n = n;
    return fuzz_files[k].name;
}

static inline int fuzz_find(const char *name)
{
    for (int k = 0; k < FUZZ_FILES; k++)
        if (!strcmp(fuzz_files[k].name, name)) return k;
    return -1;
}

spot_status __wrap_spot_file_read(spot_ctx *c, const char *path, unsigned char **bytes, size_t *n, size_t limit);
spot_status __wrap_spot_blob_open(spot_ctx *c, spot_blob *s, const char *path);
int         __wrap_access(const char *path, int mode);
int         __wrap_stat(const char *path, struct stat *st);
FILE       *__wrap_fopen(const char *path, const char *mode);
int         __real_access(const char *path, int mode);
int         __real_stat(const char *path, struct stat *st);
FILE       *__real_fopen(const char *path, const char *mode);

spot_status __wrap_spot_file_read(spot_ctx *c, const char *path, unsigned char **bytes, size_t *n, size_t limit)
{
    int k = fuzz_find(path);

    if (k < 0 || fuzz_files[k].n > limit) return spot_fail(c, SPOT_IO, "cannot read %s", path);
    *n = fuzz_files[k].n;
    *bytes = malloc(*n + 1);
    if (!*bytes) abort();
    if (*n) memcpy(*bytes, fuzz_files[k].bytes, *n);
    (*bytes)[*n] = 0;
    return SPOT_OK;
}

spot_status __wrap_spot_blob_open(spot_ctx *c, spot_blob *s, const char *path)
{
    int k = fuzz_find(path);

    if (k < 0) return spot_fail(c, SPOT_IO, "cannot open %s", path);
    *s = spot_blob_memory(fuzz_files[k].bytes, fuzz_files[k].n, path);
    return SPOT_OK;
}

int __wrap_access(const char *path, int mode)
{
    return fuzz_find(path) < 0 ? __real_access(path, mode) : 0;
}

int __wrap_stat(const char *path, struct stat *st)
{
    int k = fuzz_find(path);

    if (k < 0) return __real_stat(path, st);
    *st = (struct stat){ .st_mode = S_IFREG, .st_size = (off_t)fuzz_files[k].n, .st_ino = (ino_t)k + 1 };
    return 0;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    int k = fuzz_find(path);

    return k < 0 ? __real_fopen(path, mode) : fmemopen((void *)(uintptr_t)fuzz_files[k].bytes, fuzz_files[k].n, mode);
}

/* Cuts what stands before the next NUL off the input, as a text; the rest, with no NUL left, is the last one. */
static inline void fuzz_text(char *text, size_t room, const uint8_t **data, size_t *size)
{
    const uint8_t *end = *size ? memchr(*data, 0, *size) : NULL;
    size_t n = end ? (size_t)(end - *data) : *size;

    snprintf(text, room, "%.*s", (int)n, (const char *)*data);
    *data += n + (end != NULL);
    *size -= n + (end != NULL);
}

/* A failure has one sentence of one line. */
static inline void fuzz_said(const spot_ctx *c)
{
    if (!c->message[0] || strchr(c->message, '\n')) abort();
}

static inline void fuzz_within(int v, int least, int most)
{
    if (v < least || v > most) abort();
}

#endif
