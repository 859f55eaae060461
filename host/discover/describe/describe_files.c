/* describe_files.c - see describe_files.h. */
#include "discover/describe/describe_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "discover/subject/attributes.h"
#include "formats/bpe.h"
#include "formats/formats.h"
#include "spotter/array.h"

enum { LONGEST = 64 << 20, MOST_PHRASES = 1000000 };

/* ---- phrases ---- */

/* A phrase that cannot be what the user means. */
static spot_status check_phrase(spot_ctx *c, const spot_describe_files *files, int line, const char *phrase, size_t n)
{
    const char *file = files->words;
    char where[1100];

    if (strlen(phrase) != n) return spot_fail(c, SPOT_INPUT, "%s: line %d holds a NUL byte; it must be UTF-8 text", file, line);
    if (spot_utf8(phrase, n) != n) return spot_fail(c, SPOT_INPUT, "%s: line %d is not UTF-8", file, line);
    snprintf(where, sizeof where, "%s: line %d", file, line);
    if (files->encoder) SPOT_TRY(spot_bpe_check(c, where, phrase));
    if (strstr(phrase, "{}"))
        return spot_fail(c, SPOT_INPUT, "%s: line %d, \"%.100s\", holds {}; a score is against the mean of the class, so the "
                         "name of the class tells nothing; write the phrase without it", file, line, phrase);
    return SPOT_OK;
}

static char *trim(char *text)
{
    size_t n;

    while (*text == ' ' || *text == '\t') text++;
    for (n = strlen(text); n && strchr(" \t\r", text[n - 1]); n--) text[n - 1] = 0;
    return text;
}

/* The lines that are not empty. */
static spot_status split_lines(spot_ctx *c, spot_describer *d, size_t n)
{
    const char *file = d->files->words;
    char *at = (char *)d->bytes, *end = at + n;
    int lines = 1;

    for (char *p = at; p < end; p++) lines += *p == '\n';
    d->phrase = malloc((size_t)lines * sizeof *d->phrase);
    if (!d->phrase) return spot_fail(c, SPOT_NOMEM, "no memory for the %d lines of %s", lines, file);
    if (n >= 3 && !memcmp(at, "\xef\xbb\xbf", 3)) at += 3;
    for (int line = 1; at < end; line++) {
        char *stop = memchr(at, '\n', (size_t)(end - at)), *phrase;
        if (!stop) stop = end;
        *stop = 0;
        SPOT_TRY(check_phrase(c, d->files, line, at, (size_t)(stop - at)));
        phrase = trim(at);
        if (*phrase) d->phrase[d->o.phrases++] = phrase;
        at = stop + 1;
    }
    if (d->o.phrases < 1 || d->o.phrases > MOST_PHRASES)
        return spot_fail(c, SPOT_INPUT, "%s has %d phrases; one a line is wanted, at least one and at most %d", file,
                         d->o.phrases, MOST_PHRASES);
    return SPOT_OK;
}

/* A phrase that is there twice would take two of the few places of a slice. */
static spot_status drop_repeats(spot_ctx *c, spot_describer *d)
{
    const int n = d->o.phrases;
    int *order = malloc((size_t)n * sizeof *order), repeats = 0;

    if (!order) return spot_fail(c, SPOT_NOMEM, "no memory to compare %d phrases", n);
    spot_words_sort(order, d->phrase, n);
    for (int i = n - 1; i > 0; i--)
        if (!strcmp(d->phrase[order[i]], d->phrase[order[i - 1]])) {
            if (!repeats++)
                spot_log(c, SPOT_LOG_WARN, "%s: phrases that are there twice count once, such as \"%.100s\"", d->files->words,
                         d->phrase[order[i]]);
            d->phrase[order[i]] = NULL;
        }
    free(order);
    d->o.phrases = 0;
    for (int i = 0; i < n; i++)
        if (d->phrase[i]) d->phrase[d->o.phrases++] = d->phrase[i];
    return SPOT_OK;
}

static spot_status read_phrases(spot_ctx *c, spot_describer *d)
{
    size_t n;

    SPOT_TRY(spot_file_read(c, d->files->words, &d->bytes, &n, LONGEST));
    SPOT_TRY(split_lines(c, d, n));
    if (d->files->encoder) SPOT_TRY(drop_repeats(c, d));      /* rows of --word-embeddings stay with their lines */
    d->o.phrase = d->phrase;
    return SPOT_OK;
}

/* ---- their features ---- */

/* Refuses rows of pictures in the place of those of the phrases, and rows of another encoder. */
static spot_status check_makers(spot_ctx *c, const spot_array *a, const char *where, const char *rows_encoder)
{
    spot_notes notes;
    const char *made_by = notes.text[SPOT_NOTE_ENCODER];

    SPOT_TRY(spot_array_notes(c, &notes, a, where));
    if (!strcmp(notes.text[SPOT_NOTE_ROWS_OF], "images"))
        return spot_fail(c, SPOT_INPUT, "%s has features of pictures; --word-embeddings takes those of the phrases", where);
    if (!*made_by || !*rows_encoder || !strcmp(made_by, rows_encoder)) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "%s has features of the encoder %s, and the rows are of %s: they cannot be compared", where,
                     made_by, rows_encoder);
}

static spot_status read_word_embeddings(spot_ctx *c, spot_describer *d, const spot_subject *s, const char *rows_encoder)
{
    spot_array a = { 0 };
    spot_status how;

    SPOT_TRY(spot_array_read(c, &a, d->files->word_embeddings, 0));
    if (a.rank != 2 || a.dim[0] != d->o.phrases || a.dim[1] != s->d)
        how = spot_fail(c, SPOT_INPUT, "%s has %lld rows of %lld numbers; %d phrases of %s and the rows' %d numbers are "
                        "wanted, both by the same encoder", a.name, a.rank > 0 ? (long long)a.dim[0] : 1LL,
                        a.rank > 1 ? (long long)a.dim[1] : 1LL, d->o.phrases, d->files->words, s->d);
    else how = check_makers(c, &a, d->files->word_embeddings, rows_encoder);
    if (how == SPOT_OK) how = spot_array_floats(c, &d->text, &a);
    spot_array_close(&a);
    d->o.d = s->d;
    return how;
}

static spot_encoder_options options_of(const spot_describer *d, spot_clip_use use)
{
    spot_encoder_options o = d->files->encoder_options ? *d->files->encoder_options : spot_encoder_defaults();

    o.clip.use = use;
    return o;
}

static spot_status encode_phrases(spot_ctx *c, spot_describer *d)
{
    const spot_encoder_options o = options_of(d, SPOT_CLIP_USE_TEXTS);
    const spot_encoder_info *about;
    spot_status how;

    SPOT_TRY(spot_encoder_open(c, &d->encoder, d->files->encoder, &o));
    about = spot_encoder_about(d->encoder);
    snprintf(d->name, sizeof d->name, "%s", about->name);
    d->o.d = about->dim;
    d->text = malloc((size_t)d->o.phrases * (size_t)about->dim * sizeof *d->text);
    how = d->text ? spot_encode_texts(c, d->encoder, d->text, (const char *const *)d->phrase, d->o.phrases)
                  : spot_fail(c, SPOT_NOMEM, "no memory for the features of %d phrases", d->o.phrases);
    spot_encoder_close(c, d->encoder);
    d->encoder = NULL;
    return how;
}

/* Opens the encoder of the phrases for pictures, unless it made the rows. */
static spot_status join_rows(spot_ctx *c, spot_describer *d, const spot_subject *s, const char *rows_encoder)
{
    const spot_encoder_options o = options_of(d, SPOT_CLIP_USE_IMAGES);
    const char *path = d->files->encoder;

    if (*rows_encoder && !strcmp(d->name, rows_encoder)) {
        if (d->o.d == s->d) return SPOT_OK;
        return spot_fail(c, SPOT_INPUT, "%s gives %d numbers, and the rows that it is said to have made have %d", path, d->o.d,
                         s->d);
    }
    if (!s->image)
        return spot_fail(c, SPOT_INPUT, "%s (%s) did not make the features of the rows (%s), and there are no pictures for it "
                         "to encode; give them with --images and --ids", path, d->name,
                         *rows_encoder ? rows_encoder : "by an encoder that is not known");
    SPOT_TRY(spot_encoder_open(c, &d->encoder, path, &o));
    if (!spot_encoder_about(d->encoder)->has_images)
        return spot_fail(c, SPOT_INPUT, "%s has no tower for pictures, so the phrases cannot be compared with them", path);
    if (strcmp(spot_encoder_about(d->encoder)->name, d->name))
        return spot_fail(c, SPOT_INPUT, "%s was changed while it was in use; run the same command again", path);
    return SPOT_OK;
}

/* ---- opening ---- */

static spot_status add_table(spot_ctx *c, spot_describer *d, const spot_subject *s, const char *where)
{
    spot_attributes more;

    SPOT_TRY(spot_attributes_of_subject(c, &more, where, s));
    return spot_attributes_join(c, &d->attributes, &more);
}

static spot_status read_attributes(spot_ctx *c, spot_describer *d, const spot_subject *s)
{
    if (s->has) SPOT_TRY(spot_attributes_of_classes(c, &d->attributes, s->has, s->class_name, s->n, s->classes));
    if (d->files->attributes) SPOT_TRY(add_table(c, d, s, d->files->attributes));
    if (d->files->instances) SPOT_TRY(add_table(c, d, s, d->files->instances));
    if (d->files->pictures && s->image) {
        spot_attributes more;
        SPOT_TRY(spot_attributes_of_pictures(c, &more, s, d->files->memory));
        SPOT_TRY(spot_attributes_join(c, &d->attributes, &more));
    }
    if (d->attributes.items) d->o.attributes = &d->attributes;
    return SPOT_OK;
}

/* A table is read when the ids of its rows are known. */
static spot_status check_exists(spot_ctx *c, const char *where)
{
    const char *member;
    char *path;
    spot_blob in;
    spot_status how;

    SPOT_TRY(spot_place_split(c, &path, &member, where));
    how = spot_blob_open(c, &in, path);
    if (how == SPOT_OK) spot_blob_close(&in);
    free(path);
    return how;
}

spot_status spot_describer_read(spot_ctx *c, spot_describer *d, const spot_describe_files *files)
{
    *d = (spot_describer){ .files = files, .o = spot_describe_defaults() };
    d->o.most = files->phrases;
    d->o.rounds = files->rounds;
    if (files->attributes) SPOT_TRY(check_exists(c, files->attributes));
    if (files->word_embeddings) SPOT_TRY(check_exists(c, files->word_embeddings));
    if (!files->words) return SPOT_OK;
    if (!files->encoder == !files->word_embeddings)
        return spot_fail(c, SPOT_USAGE, "%s: phrases need features: an encoder, or an array of them, one of the two",
                         files->words);
    SPOT_TRY(read_phrases(c, d));
    return files->encoder ? encode_phrases(c, d) : SPOT_OK;
}

spot_status spot_describer_open(spot_ctx *c, spot_describer *d, const spot_subject *s, const char *rows_encoder)
{
    SPOT_TRY(read_attributes(c, d, s));
    if (!d->files->words) return SPOT_OK;
    SPOT_TRY(d->files->encoder ? join_rows(c, d, s, rows_encoder) : read_word_embeddings(c, d, s, rows_encoder));
    d->o.text = d->text;
    return SPOT_OK;
}

/* ---- the pictures ---- */

/* The rows of classes with slices that have a picture, into row (s->n); returns their number. */
static int wanted_rows(const spot_findings *f, const spot_subject *s, uint8_t *missing, int *row)
{
    int n = 0;

    memset(missing, 1, (size_t)s->n);
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].n && f->finding[i].slices; k++)
            if (s->image[f->finding[i].row[k]]) missing[f->finding[i].row[k]] = 0;
    for (int i = 0; i < s->n; i++)
        if (!missing[i]) row[n++] = i;
    return n;
}

static spot_status encode_rows(spot_ctx *c, spot_describer *d, const spot_findings *f, const spot_subject *s, int *row,
                               char **path, float *box, uint8_t *unreadable)
{
    const size_t dim = (size_t)d->o.d;
    spot_encoder_pictures p = { .path = path, .n = wanted_rows(f, s, d->missing, row), .feature = d->feature,
                                .box = s->box ? box : NULL,
                                .unreadable = d->files->skip ? unreadable : NULL, .stage = "describe",
                                .option = "--skip-unreadable", .memory = d->files->memory };

    for (int i = 0; i < p.n; i++) path[i] = s->image[row[i]];
    for (int i = 0; s->box && i < p.n; i++) memcpy(box + 4 * (size_t)i, s->box + 4 * (size_t)row[i], 4 * sizeof *box);
    spot_log(c, SPOT_LOG_INFO, "%s encodes %d pictures for the words of their slices", d->files->encoder, p.n);
    if (p.n) SPOT_TRY(spot_encode_pictures(c, d->encoder, &p));
    for (int i = p.n - 1; i >= 0; i--) {           /* from the front of the array to the rows: the last first */
        memmove(d->feature + (size_t)row[i] * dim, d->feature + (size_t)i * dim, dim * sizeof *d->feature);
        d->missing[row[i]] = p.unreadable && unreadable[i];
    }
    d->o.feature = d->feature;
    d->o.missing = d->missing;
    return SPOT_OK;
}

static spot_status encode_pictures(spot_ctx *c, spot_describer *d, const spot_findings *f, const spot_subject *s)
{
    const size_t n = (size_t)s->n;
    int *row = malloc(n * sizeof *row);
    char **path = malloc(n * sizeof *path);
    uint8_t *unreadable = malloc(n);
    float *box = malloc(4 * n * sizeof *box);
    spot_status how;

    d->missing = malloc(n);
    d->feature = malloc(n * (size_t)d->o.d * sizeof *d->feature);
    if (!row || !path || !unreadable || !box || !d->missing || !d->feature)
        how = spot_fail(c, SPOT_NOMEM, "no memory for the features of %zu pictures", n);
    else how = encode_rows(c, d, f, s, row, path, box, unreadable);
    free(row);
    free(box);
    free(path);
    free(unreadable);
    return how;
}

spot_status spot_describer_run(spot_ctx *c, spot_describer *d, spot_findings *f, const spot_subject *s)
{
    if (!d->o.text && !d->o.attributes) return SPOT_OK;
    if (d->encoder) SPOT_TRY(encode_pictures(c, d, f, s));
    return spot_findings_describe(c, f, s, &d->o);
}

void spot_describer_close(spot_ctx *c, spot_describer *d)
{
    spot_encoder_close(c, d->encoder);
    spot_attributes_close(&d->attributes);
    free(d->bytes);
    free(d->phrase);
    free(d->text);
    free(d->feature);
    free(d->missing);
    memset(d, 0, sizeof *d);
}
