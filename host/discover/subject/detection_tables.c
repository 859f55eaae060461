/* detection_tables.c - see spotter/subject.h. A table is ours if its first line is, which detection_files.c writes: change
 * both. Tables of earlier columns are then another program's. */
#define _POSIX_C_SOURCE 200809L
#include "spotter/subject.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { TABLES = 2, PATH = 1200 };

static const struct { const char *name, *top; } table[TABLES] = {
    { "rows.csv", "id,image,class,x,y,width,height,outcome,reason,score\n" },
    { "attributes.csv", "id,size,at edge,in picture,overlaps\n" },
};

/* *ours: the file begins with the first line of ours; false for one that cannot be read, so that it stays. Returns whether it
 * is there. */
static bool look_at(char path[PATH], const char *dir, int i, bool *ours)
{
    const int all = (int)strlen(table[i].top);
    char line[128];

    snprintf(path, PATH, "%s/%s", dir, table[i].name);
    *ours = spot_file_peek(path, line, (size_t)all) == all && !memcmp(line, table[i].top, (size_t)all);
    return !access(path, F_OK);
}

spot_status spot_tables_check(spot_ctx *c, const char *dir)
{
    char path[PATH];
    bool ours;

    for (int i = 0; i < TABLES; i++)
        if (look_at(path, dir, i, &ours) && !ours)
            return spot_fail(c, SPOT_USAGE, "%s is there, and spotter discover did not write it; choose another folder, or say "
                             "--replace", path);
    return SPOT_OK;
}

spot_status spot_tables_drop(spot_ctx *c, const char *dir)
{
    char path[PATH];
    bool ours;

    for (int i = 0; i < TABLES; i++)
        if (look_at(path, dir, i, &ours) && ours && remove(path))
            return spot_fail(c, SPOT_IO, "cannot remove %s, the table of an earlier run: %s", path, strerror(errno));
    return SPOT_OK;
}
