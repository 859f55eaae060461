/* merges_write.c - the file of merges (spotter/discover.h). */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/text.h"
#include "spotter/discover.h"

typedef struct { const spot_tree_merges *m; const spot_subject *s; } merges_file;

static void put_number(FILE *f, double v)
{
    char text[32];

    fprintf(f, ",%s", isnan(v) ? "" : spot_digits(text, v, 1));
}

static void put_count(FILE *f, int count)
{
    fputc(',', f);
    if (count >= 0) fprintf(f, "%d", count);
}

static const char head[] = "class,part,left,right,height,rows,wrong,rate,judged,judged_wrong,p\n";

static bool fill_file(FILE *f, const void *user)
{
    const merges_file *k = user;

    fputs(head, f);
    for (const spot_tree_merge *m = k->m->merge; m < k->m->merge + k->m->count; m++) {
        spot_csv_field(f, m->cls < 0 ? "" : k->s->class_name[m->cls]);
        put_count(f, m->part);
        fprintf(f, ",%d,%d", m->left, m->right);
        put_number(f, m->height);
        fprintf(f, ",%d,%d", m->rows, m->wrong);
        put_number(f, (double)m->wrong / m->rows);
        put_count(f, m->judged);
        put_count(f, m->judged_wrong);
        put_number(f, m->p);
        fputc('\n', f);
    }
    return !ferror(f);
}

spot_status spot_tree_merges_place(spot_ctx *c, const char *path)
{
    SPOT_TRY(spot_file_place(c, path, false));
    return spot_file_is_ours(path, head) ? SPOT_OK
         : spot_fail(c, SPOT_USAGE, "{merges.foreign} %s is there, and it is no file of merges; choose another name", path);
}

spot_status spot_tree_merges_write(spot_ctx *c, const char *path, const spot_tree_merges *m, const spot_subject *s)
{
    return spot_file_fill(c, path, fill_file, &(merges_file){ m, s });
}
