/* claim.c - see claim.h. config.yaml, which is written first and never removed, marks a folder of findings.
 * subject.safetensors identifies their data. */
#define _POSIX_C_SOURCE 200809L
#include "discover/claim.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { PATH = 1200 };

const char *const spot_findings_files[] = { "config.yaml", "slices.csv", "slices.json", "map.npy", "fit.safetensors",
                                            "subject.safetensors", "report.html", NULL };

static bool is_there(const char *dir, const char *name)
{
    char path[PATH];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return !access(path, F_OK);
}

/* Whether config.yaml begins with the comment that findings_write.c writes. */
static bool is_our_config(const char *dir)
{
    static const char top[] = "# spotter discover --config config.yaml --seed ";
    char path[PATH], line[sizeof top] = "";
    FILE *f;

    snprintf(path, sizeof path, "%s/config.yaml", dir);
    f = spot_file_stream(path);
    if (!f) return false;
    if (!fgets(line, sizeof line, f)) *line = 0;
    fclose(f);
    return !strcmp(line, top);
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

    while (*name && !is_there(dir, *name)) name++;
    if (!*name) return SPOT_OK;
    if (!is_our_config(dir))
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
