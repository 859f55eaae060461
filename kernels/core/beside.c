/* beside.c - see beside.h. */
#define _GNU_SOURCE
#include "core/beside.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An address in this library or program. */
static const char us_are_here;

void spot_path_beside(char *path, size_t size, const char *variable, const char *const *folder, int folders, const char *file)
{
    const char *dir = getenv(variable);
    char here[PATH_MAX] = "";
    Dl_info us;
    char *slash;

    if (dir && *dir) {
        snprintf(path, size, "%s/%s", dir, file);
        return;
    }
    /* For a program the loader gives the name of the call, which may lack the folder. */
    if (dladdr(&us_are_here, &us) && strstr(us.dli_fname, ".so")) snprintf(here, sizeof here, "%s", us.dli_fname);
    else if (readlink("/proc/self/exe", here, sizeof here - 1) < 0) here[0] = 0;
    slash = strrchr(here, '/');
    if (slash) *slash = 0;
    for (int i = 0; i < folders; i++) {
        snprintf(path, size, "%s%s/%s", here, folder[i], file);
        if (!access(path, R_OK)) return;
    }
}
