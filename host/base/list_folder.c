/* list_folder.c - see folder.h: names from a list stay in their folder. */
#define _XOPEN_SOURCE 700                  /* realpath */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"

spot_status spot_list_folder_open(spot_ctx *c, spot_list_folder *l, const char *path, bool links)
{
    *l = (spot_list_folder){ .path = path };
    if (links) return SPOT_OK;
    l->real = realpath(path, NULL);
    if (!l->real && errno == ENOENT) l->real = strdup(path);
    return l->real ? SPOT_OK : spot_fail(c, SPOT_IO, "{file.unopened} cannot open %s: %s", path, strerror(errno));
}

void spot_list_folder_close(spot_list_folder *l)
{
    free(l->real);
    l->real = NULL;
}

bool spot_name_leads_out(const char *name)
{
    for (const char *p = name; (p = strstr(p, "..")); p += 2)
        if ((p == name || p[-1] == '/') && (!p[2] || p[2] == '/')) return true;
    return false;
}

spot_status spot_list_folder_check(spot_ctx *c, const spot_list_folder *l, int row, const char *name, const char *option)
{
    const size_t n = l->real ? strlen(l->real) : 0;
    char path[PATH_MAX], *real;
    bool inside;

    if (spot_name_leads_out(name))
        return spot_fail(c, SPOT_INPUT, "{picture.outside} row %d, \"%.300s\", leads out of the folder of pictures, %.300s",
                         row, name, l->path);
    if (!l->real || (size_t)snprintf(path, sizeof path, "%s/%s", l->path, name) >= sizeof path) return SPOT_OK;
    real = realpath(path, NULL);
    inside = !real || !strcmp(l->real, "/") || (!strncmp(real, l->real, n) && real[n] == '/');
    free(real);
    if (inside) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT,
                     "{picture.link_outside} %.300s is a symbolic link out of the folder of pictures, %.300s%s%s%s", path,
                     l->path, option ? "; " : "", option ? option : "", option ? " allows that" : "");
}
