/* check_folder.h - TEST_IN_FOLDER(name) is a test with a folder of its own: `root`, made by set_up, removed by tear_down; and
 * files in it. */
#ifndef SPOTTER_TESTS_CHECK_FOLDER_H
#define SPOTTER_TESTS_CHECK_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checks.h"

#define TEST_IN_FOLDER(name) TEST_WITH(name, set_up, tear_down)

static char root[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/spot_test_XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

/* A path in the folder. A test may ask for a thousand. */
__attribute__((format(printf, 1, 2)))
static inline const char *in_root(const char *fmt, ...)
{
    static char path[1000][160];
    static int next;
    char *p = path[next++ % LEN(path)];
    int n = snprintf(p, sizeof *path, "%s/", root);
    va_list args;

    va_start(args, fmt);
    n += vsnprintf(p + n, sizeof *path - (size_t)n, fmt, args);
    va_end(args);
    assert_true(n < (int)sizeof *path);
    return p;
}

/* Writes a file, with the folders above it; a path that does not begin with '/' lies in the test's folder. Returns its path. */
static inline const char *put_bytes(const char *name, const void *bytes, size_t n)
{
    const char *path = *name == '/' ? name : in_root("%s", name);
    char folder[512];
    FILE *f;

    snprintf(folder, sizeof folder, "%s", path);
    for (char *p = folder + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = 0;
        mkdir(folder, 0777);
    }
    f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) fail_msg("%s cannot be written", path);
    return path;
}

static inline const char *put_text(const char *name, const char *text) { return put_bytes(name, text, strlen(text)); }

#endif
