/* new_pictures.c - the pictures of a folder that are nearest to a phrase, and random others. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/folder.h"
#include "claims/measure.h"
#include "models/idle_cores.h"

enum { NAME = 1100 };

typedef struct {
    const spot_gather_options *o;
    spot_folder f;
    char **path;               /* (n): the candidates */
    int *of, n;                /* (n): their places in the folder */
    double *similarity;        /* (n) */
} candidates;

/* ---- new pictures ---- */

spot_status spot_new_pictures_take(spot_ctx *c, spot_new_pictures *p, int n)
{
    *p = (spot_new_pictures){ .row = calloc((size_t)n + 1, sizeof *p->row) };
    return p->row ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", n);
}

void spot_new_pictures_close(spot_new_pictures *p)
{
    for (int i = 0; i < p->n; i++) {
        free(p->row[i].picture);
        free(p->row[i].predicted);
    }
    free(p->row);
    *p = (spot_new_pictures){ 0 };
}

/* ---- which pictures ---- */

bool spot_gather_has_class(const char *images, const char *cls)
{
    char path[2 * NAME];
    struct stat st;

    if (!cls || snprintf(path, sizeof path, "%s/%s", images, cls) >= (int)sizeof path) return false;
    return *cls && !strchr(cls, '/') && strcmp(cls, ".") && strcmp(cls, "..") && !stat(path, &st) && S_ISDIR(st.st_mode);
}

typedef struct { dev_t dev; ino_t ino; } file_id;

static int by_file(const void *a, const void *b)
{
    const file_id *x = a, *y = b;

    return x->dev != y->dev ? (x->dev > y->dev) - (x->dev < y->dev) : (x->ino > y->ino) - (x->ino < y->ino);
}

static bool find_file(file_id *id, const char *path)
{
    struct stat st;

    if (!path || stat(path, &st)) return false;
    *id = (file_id){ st.st_dev, st.st_ino };
    return true;
}

/* The files of the pictures that the search has seen, sorted: *known (*n), malloc'd. */
static spot_status list_known(spot_ctx *c, file_id **known, int *n, const spot_subject *s)
{
    const int rows = s && s->image ? s->n : 0;

    *n = 0;
    *known = malloc(((size_t)rows + 1) * sizeof **known);
    if (!*known) return spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", rows);
    for (int i = 0; i < rows; i++) *n += find_file(&(*known)[*n], s->image[i]);
    qsort(*known, (size_t)*n, sizeof **known, by_file);
    return SPOT_OK;
}

/* Keeps the pictures of the class's folder, if there is one, that the search has not seen. */
static spot_status choose_candidates(spot_ctx *c, candidates *k, const char *cls)
{
    const size_t letters = spot_gather_has_class(k->o->images, cls) ? strlen(cls) : 0;
    int known_n, seen = 0;
    file_id *known, id;
    char *at = (char *)(k->path + k->f.n);

    SPOT_TRY(list_known(c, &known, &known_n, k->o->known));
    for (int i = 0; i < k->f.n; i++) {
        const char *name = k->f.path[i];
        if (letters && (strncmp(name, cls, letters) || name[letters] != '/')) continue;
        k->path[k->n] = at;
        at += sprintf(at, "%s/%s", k->o->images, name) + 1;
        if (known_n && find_file(&id, k->path[k->n]) && bsearch(&id, known, (size_t)known_n, sizeof id, by_file)) seen++;
        else k->of[k->n++] = i;
    }
    free(known);
    if (seen)
        spot_log(c, SPOT_LOG_WARN, "%d pictures of %s are left out: the search has seen them, so they are not new", seen,
                 k->o->images);
    if (k->n) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "%s has no new pictures%s%s", k->o->images, letters ? " in its folder " : "",
                     letters ? cls : "");
}

/* ---- their similarity ---- */

/* Cosines of the phrase with the readable candidates; the others are dropped. */
static spot_status compare(spot_ctx *c, candidates *k, spot_encoder *e, const char *phrase)
{
    const size_t d = (size_t)spot_encoder_about(e)->dim;
    float *v = malloc(((size_t)k->n + 1) * d * sizeof *v), *text = v ? v + (size_t)k->n * d : NULL;
    uint8_t *bad = malloc((size_t)k->n);
    int skipped = 0, kept = 0;
    const spot_encoder_pictures p = { .path = k->path, .n = k->n, .feature = v, .unreadable = bad, .stage = "gather",
                                      .skipped = &skipped };
    spot_status s = v && bad ? spot_encode_texts(c, e, text, &phrase, 1)
                             : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", k->n);

    if (!s) s = spot_encode_pictures(c, e, &p);
    for (int i = 0; !s && i < k->n; i++) {
        double sum = 0;
        if (bad[i]) continue;
        for (size_t j = 0; j < d; j++) sum += (double)text[j] * (double)v[(size_t)i * d + j];
        k->similarity[kept] = sum;
        k->of[kept++] = k->of[i];
    }
    k->n = kept;
    free(v);
    free(bad);
    if (!s && skipped) spot_log(c, SPOT_LOG_WARN, "%d pictures of %s cannot be read", skipped, k->o->images);
    return s;
}

static spot_status pick(spot_ctx *c, const candidates *k, spot_new_pictures *p)
{
    const int most = k->o->most < k->n ? k->o->most : k->n;
    spot_gathered *of = malloc((2 * (size_t)most + 1) * sizeof *of);
    int n = 0;
    spot_status s = of ? spot_gather_pick(c, of, &n, k->similarity, k->n, most, k->o->seed)
                       : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", most);

    if (!s && n < 2 * k->o->most)
        spot_log(c, SPOT_LOG_WARN, "%d readable new pictures are fewer than twice %d; %d are gathered", k->n, k->o->most,
                 n / 2);
    if (!s) s = spot_new_pictures_take(c, p, n);
    for (int i = 0; i < n && !s; i++, p->n++) {
        p->row[i] = (spot_new_picture){ strdup(k->f.path[k->of[of[i].picture]]), of[i].group, of[i].similarity, -1, NULL };
        if (!p->row[i].picture) s = spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", n);
    }
    free(of);
    return s;
}

static spot_status gather(spot_ctx *c, candidates *k, spot_new_pictures *p)
{
    const spot_encoder_options plain = spot_encoder_defaults();
    size_t bytes = (size_t)k->f.n * sizeof *k->path;
    spot_encoder *e = NULL;
    spot_status s;

    for (int i = 0; i < k->f.n; i++) bytes += strlen(k->o->images) + strlen(k->f.path[i]) + 2;
    k->path = malloc(bytes + 1);
    k->of = malloc(((size_t)k->f.n + 1) * sizeof *k->of);
    k->similarity = malloc(((size_t)k->f.n + 1) * sizeof *k->similarity);
    if (!k->path || !k->of || !k->similarity) return spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", k->f.n);
    SPOT_TRY(choose_candidates(c, k, k->o->cls));
    SPOT_TRY(spot_encoder_open(c, &e, k->o->weights, k->o->encoder ? k->o->encoder : &plain));
    spot_warn_of_encoder(c, spot_encoder_about(e), (k->o->encoder ? k->o->encoder : &plain)->clip.precision, "--precision");
    s = compare(c, k, e, k->o->phrase);
    spot_encoder_close(c, e);
    return s ? s : pick(c, k, p);
}

spot_status spot_gather(spot_ctx *c, spot_new_pictures *p, const spot_gather_options *o)
{
    candidates k = { .o = o };
    spot_status s;

    *p = (spot_new_pictures){ 0 };
    if (o->most < 1) return spot_fail(c, SPOT_USAGE, "%d pictures are to be gathered; at least 1 is possible", o->most);
    SPOT_TRY(spot_folder_pictures(c, &k.f, o->images));
    spot_folder_log_doubles(c, &k.f, o->images);
    s = gather(c, &k, p);
    if (s) spot_new_pictures_close(p);
    spot_folder_close(&k.f);
    free(k.path);
    free(k.of);
    free(k.similarity);
    return s;
}
