/* claim.c - see claim.h. config.yaml, which is written first and never removed, marks a folder of findings.
 * subject.safetensors identifies their data. */
#define _POSIX_C_SOURCE 200809L
#include "discover/claim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { PATH = 1200 };

const char *const spot_findings_files[] = { "config.yaml", "slices.csv", "slices.json", "map.npy", "fit.safetensors",
                                            "subject.safetensors", "report.html", "rows.csv",
                                            "attributes.csv", NULL };

static bool is_there(const char *dir, const char *name)
{
    char path[PATH];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return !access(path, F_OK);
}

/* Whether the file begins with this text. */
static bool begins_with(const char *dir, const char *name, const char *top)
{
    char path[PATH], line[128] = "";
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = spot_file_stream(path);
    if (!f) return false;
    if (!fgets(line, (int)strlen(top) + 1, f)) *line = 0;
    fclose(f);
    return !strcmp(line, top);
}

/* The tables of rows of a detector, which may come before all others, have their own header; the others have config.yaml with a
 * comment of findings_write.c. */
static bool is_ours(const char *dir, const char *name)
{
    if (!strcmp(name, "rows.csv"))
        return begins_with(dir, name, "id,image,class,x,y,width,height,outcome,reason,score\n");
    if (!strcmp(name, "attributes.csv")) return begins_with(dir, name, "id,size,at edge,in picture,overlaps\n");
    return begins_with(dir, "config.yaml", "# spotter discover --config config.yaml --seed ");
}

spot_status spot_findings_drop_tables(spot_ctx *c, const char *dir)
{
    static const char *const table[] = { "rows.csv", "attributes.csv" };
    char path[PATH];

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!is_there(dir, table[i]) || !is_ours(dir, table[i])) continue;
        snprintf(path, sizeof path, "%s/%s", dir, table[i]);
        if (remove(path))
            return spot_fail(c, SPOT_IO, "cannot remove %s, the table of an earlier run: %s", path, strerror(errno));
    }
    return SPOT_OK;
}

static bool same_data(const spot_subject *a, const spot_subject *b)
{
    size_t n = (size_t)a->n, all = n * (size_t)a->classes;

    if (a->n != b->n || a->d != b->d || a->classes != b->classes || !a->has != !b->has) return false;
    if (strcmp(a->source, b->source) || strcmp(a->encoder, b->encoder)) return false;
    for (int k = 0; k < a->classes; k++)
        if (strcmp(a->class_name[k], b->class_name[k])) return false;
    if (a->has) return !memcmp(a->has, b->has, all);
    return !memcmp(a->target, b->target, n * sizeof *a->target) &&
           !memcmp(a->confidence, b->confidence, n * sizeof *a->confidence);
}

spot_status spot_findings_claim(spot_ctx *c, const char *dir, const spot_subject *s)
{
    const char *const *name = spot_findings_files;
    spot_discover_options o;
    spot_findings f;
    spot_subject was;
    spot_status how;

    while (*name && (!is_there(dir, *name) || is_ours(dir, *name))) name++;
    if (*name)
        return spot_fail(c, SPOT_USAGE, "%s/%s is there, and spotter discover did not write it; choose another folder, or say "
                         "--replace", dir, *name);
    if (!s || !is_there(dir, "slices.json") || !is_there(dir, "subject.safetensors")) return SPOT_OK;
    how = spot_findings_read(c, dir, &was, &f, &o);
    if (how == SPOT_NOMEM) return how;
    if (how) {
        spot_forget(c);
        return spot_fail(c, SPOT_USAGE, "%s holds findings that cannot be read; choose another folder, or say --replace", dir);
    }
    if (!same_data(s, &was))
        how = spot_fail(c, SPOT_USAGE, "%s holds findings of other data: %s; choose another folder, or say --replace", dir,
                        was.source);
    spot_findings_close(&f);
    spot_subject_close(&was);
    return how;
}
