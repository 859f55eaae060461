/* library.cu - finds cuDNN and cuBLAS. */
#include "core/library.cuh"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const PACKAGES = "lib/python3*/site-packages/nvidia/*/lib";

/* The first file of a folder's pattern that opens; the folder is added to `looked`. */
static void *open_in(const char *folder, const char *file, char *where, size_t where_size, char *looked, size_t looked_size)
{
    size_t n = strlen(looked);
    glob_t found;
    void *so = NULL;

    snprintf(looked + n, looked_size - n, "%s%s", n ? ", " : "", folder);
    snprintf(where, where_size, "%s/%s", folder, file);
    if (glob(where, 0, NULL, &found)) return NULL;
    for (size_t i = 0; i < found.gl_pathc && !so; i++) {
        snprintf(where, where_size, "%s", found.gl_pathv[i]);
        so = dlopen(where, RTLD_NOW | RTLD_LOCAL);
    }
    globfree(&found);
    return so;
}

void *spot_library_open(const char *file, const char *own, char *where, size_t where_size, char *looked, size_t looked_size)
{
    const char *folder = getenv(own), *home = getenv("VIRTUAL_ENV"), *cuda = getenv("CUDA_HOME"), *path = getenv("PATH");
    char pattern[1024];
    void *so;

    looked[0] = 0;
    if (folder && *folder) return open_in(folder, file, where, where_size, looked, looked_size);
    snprintf(looked, looked_size, "the folders of the loader");
    snprintf(where, where_size, "%s", file);
    so = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!so && home && *home) {
        snprintf(pattern, sizeof pattern, "%s/%s", home, PACKAGES);
        so = open_in(pattern, file, where, where_size, looked, looked_size);
    }
    while (!so && path && *path) {
        int n = (int)strcspn(path, ":");
        snprintf(pattern, sizeof pattern, "%.*s/python3", n, path);
        if (n && !access(pattern, X_OK)) {
            snprintf(pattern, sizeof pattern, "%.*s/../%s", n, path, PACKAGES);
            so = open_in(pattern, file, where, where_size, looked, looked_size);
        }
        path += n + (path[n] == ':');
    }
    for (int i = 0; !so && i < 2; i++) {
        snprintf(pattern, sizeof pattern, "%s/%s", cuda && *cuda ? cuda : "/usr/local/cuda", i ? "lib" : "lib64");
        so = open_in(pattern, file, where, where_size, looked, looked_size);
    }
    return so;
}
