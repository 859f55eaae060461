/* merge_plan.c - reads the directories to merge: their configs, and the lists of their segments. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "study/merge.h"
#include "study/yaml.h"

static bool is_empty(const char *dir)
{
    struct dirent *e;
    int n = 0;
    DIR *d = opendir(dir);

    while (d && (e = readdir(d))) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    if (d) closedir(d);
    return d && !n;
}

static bool exists(const char *dir, const char *name)
{
    char path[1200];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return !access(path, F_OK);
}

/* A directory without a config: its process has not written the config yet, or it is no run directory. */
static spot_status check_unclaimed(spot_ctx *c, const spot_merge_source *s, bool is_out)
{
    if (s->n)
        return spot_fail(c, SPOT_INPUT, "{merge.no_config} %s has result segments and no config.yaml; copy it from another "
                         "directory of the same sweep", s->dir);
    if (is_out) return SPOT_OK;
    if (!is_empty(s->dir) && !exists(s->dir, "cache") && !exists(s->dir, "segments"))
        return spot_fail(c, SPOT_INPUT, "{run.missing} %s is no run directory: it has no config.yaml", s->dir);
    spot_log(c, SPOT_LOG_WARN, "%s holds no results yet", s->dir);
    return SPOT_OK;
}

/* The word that the study's configs have for `study`; "": they have no such setting, as a sweep's. */
static const char *word_of(const spot_study *y)
{
    for (const spot_setting *s = y->config->rows; s->name; s++)
        if (!strcmp(s->name, "study")) return y->name;
    return "";
}

/* Another study's settings would be taken for misspelled ones. */
static spot_status check_study(spot_ctx *c, const spot_merge_plan *p, const char *dir, const char *path)
{
    char name[64];

    SPOT_TRY(spot_yaml_word(c, name, sizeof name, path, "study"));
    if (!strcmp(name, word_of(p->study))) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{merge.other_study} %s is a run of the study \"%s\", and %s one of \"%s\": they cannot be "
                     "merged", dir, *name ? name : "sweep", p->sources ? p->source[0].dir : "the first", p->study->name);
}

/* The directory's config must equal the others' but for the number of units. Keeps the config with the most units. */
static spot_status compare_config(spot_ctx *c, spot_merge_plan *p, const spot_merge_source *s)
{
    const spot_study *y = p->study;
    void *here = NULL;
    char path[1200], words[512];
    spot_status status;

    snprintf(path, sizeof path, "%s/config.yaml", s->dir);
    SPOT_TRY(check_study(c, p, s->dir, path));
    status = spot_study_load(c, y, &here, path);
    if (status == SPOT_OK && p->config && spot_config_is_other(words, sizeof words, y->config, p->config, here))
        status = spot_fail(c, SPOT_USAGE, "{merge.other_config} %s holds results of another config than %s (%s): they cannot "
                           "be merged", s->dir, p->source[0].dir, words);
    if (status || (p->config && p->units >= y->units_of(here))) {
        spot_study_close(here);
        return status;
    }
    spot_study_close(p->config);
    p->config = here;
    p->units = y->units_of(here);
    return SPOT_OK;
}

/* A directory that is named twice counts once. */
static spot_status add_source(spot_ctx *c, spot_merge_plan *p, const char *dir, bool is_out)
{
    spot_merge_source *s = &p->source[p->sources];
    struct stat st;
    spot_status status = SPOT_OK;

    if (stat(dir, &st)) {
        if (is_out && errno == ENOENT) return SPOT_OK;
        return spot_fail(c, SPOT_IO, "{merge.unread} cannot read %s: %s; which run directory is it?", dir, strerror(errno));
    }
    *s = (spot_merge_source){ .dir = dir, .device = st.st_dev, .inode = st.st_ino };
    for (int i = 0; i < p->sources; i++)
        if (p->source[i].device == s->device && p->source[i].inode == s->inode) return SPOT_OK;
    if (exists(dir, "segments")) status = spot_frame_list(c, p->study, dir, &s->unit, &s->n);
    if (status == SPOT_OK && exists(dir, "config.yaml")) {
        p->sources++;
        p->onto |= is_out;
        return compare_config(c, p, s);
    }
    if (status == SPOT_OK) status = check_unclaimed(c, s, is_out);
    free(s->unit);
    return status;
}

/* Without the files that the config names, its key cannot be computed: the segments' keys must be equal. */
static spot_status compare_keys(spot_ctx *c, spot_merge_plan *p, void *result)
{
    const spot_study *y = p->study;
    spot_frame f;

    for (int i = 0; i < p->sources; i++)
        for (int k = 0; k < p->source[i].n; k++) {
            SPOT_TRY(spot_frame_load(c, y, p->source[i].dir, p->source[i].unit[k], result, &f));
            free(f.bytes);
            if (f.state != SPOT_SEGMENT_WHOLE || f.numbers != y->numbers) continue;
            if (!*p->key) memcpy(p->key, f.config, sizeof p->key);
            if (strcmp(p->key, f.config))
                return spot_fail(c, SPOT_INPUT, "%s %d of %s was made with other files than those before it; merge where the "
                                 "files that config.yaml names can be read", y->unit, p->source[i].unit[k], p->source[i].dir);
        }
    return SPOT_OK;
}

static spot_status find_key(spot_ctx *c, spot_merge_plan *p)
{
    spot_status status = spot_study_key(c, p->study, p->key, p->config);
    void *result;

    if (status != SPOT_IO && status != SPOT_INPUT) return status;
    spot_log(c, SPOT_LOG_INFO, "the files that the config names are not here (%s); all results must have the same key",
             spot_take_message(c, status));
    *p->key = 0;
    result = spot_frame_result(p->study);
    if (!result) return spot_fail(c, SPOT_NOMEM, "no memory for a segment");
    status = compare_keys(c, p, result);
    spot_frame_free(p->study, result);
    return status;
}

spot_status spot_merge_plan_make(spot_ctx *c, spot_merge_plan *p, const char *const *dirs, int n)
{
    p->source = calloc((size_t)n + 1, sizeof *p->source);
    if (!p->source) return spot_fail(c, SPOT_NOMEM, "no memory for a list of %d directories", n);
    SPOT_TRY(add_source(c, p, p->out, true));
    for (int i = 0; i < n; i++) SPOT_TRY(add_source(c, p, dirs[i], false));
    if (!p->sources) return spot_fail(c, SPOT_INPUT,
                                      "{merge.nothing} there is nothing to merge: no directory holds a run with a config.yaml");
    return find_key(c, p);
}

void spot_merge_plan_free(spot_merge_plan *p)
{
    for (int i = 0; i < p->sources; i++) free(p->source[i].unit);
    free(p->source);
    spot_study_close(p->config);
}
