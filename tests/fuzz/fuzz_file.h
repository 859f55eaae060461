/* fuzz_file.h - bytes as files, for readers that take a name: memory with a name below /proc, and a folder of links to it.
 * No byte reaches a disk, so that an input takes microseconds. */
#ifndef SPOTTER_TESTS_FUZZ_FILE_H
#define SPOTTER_TESTS_FUZZ_FILE_H

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE before all headers"
#endif

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spotter/ctx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_FILES = 4 };

static int fuzz_fds[FUZZ_FILES];

/* The name of file k, which holds these bytes until the next call. */
static inline const char *fuzz_file(int k, const void *bytes, size_t n)
{
    static char name[FUZZ_FILES][32];

    if (!*name[k]) {
        fuzz_fds[k] = memfd_create("fuzz", 0);
        snprintf(name[k], sizeof name[k], "/proc/self/fd/%d", fuzz_fds[k]);
    }
    if (fuzz_fds[k] < 0 || ftruncate(fuzz_fds[k], 0) || pwrite(fuzz_fds[k], bytes, n, 0) != (ssize_t)n) abort();
    return name[k];
}

static char fuzz_dir[64];

static int fuzz_remove(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)kind, (void)where;
    return remove(path);
}

static inline void fuzz_leave(void) { nftw(fuzz_dir, fuzz_remove, 8, FTW_DEPTH | FTW_PHYS); }

/* A folder of this process, which goes with it. */
static inline const char *fuzz_folder(void)
{
    if (*fuzz_dir) return fuzz_dir;
    strcpy(fuzz_dir, "/tmp/spotter_fuzz_XXXXXX");
    if (!mkdtemp(fuzz_dir) || atexit(fuzz_leave)) abort();
    return fuzz_dir;
}

/* Once: file k also has this path, whose folders are made. */
static inline void fuzz_link(int k, const char *path)
{
    char part[512];

    snprintf(part, sizeof part, "%s", path);
    for (char *p = part + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = 0;
        mkdir(part, 0700);
    }
    if (symlink(fuzz_file(k, "", 0), path)) abort();
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

#endif
