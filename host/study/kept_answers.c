/* kept_answers.c - see kept_answers.h. */
#define _POSIX_C_SOURCE 200809L
#include "study/kept_answers.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/key.h"
#include "formats/safetensors.h"
#include "models/foreign_key.h"
#include "store/store.h"

enum { LOGITS, EMBEDDINGS, CHANNELS, ARRAYS, OWN = SPOT_OWN_PICTURES, MOST = 8, ROOM = 4 << 20, MOST_KEPT = 4096 };

static const char *const array_name[ARRAYS] = { "logits", "embeddings", "channels" };
static const double of_spread = 1e-4, of_number = 1e-5;        /* what rounding changes: predictor.h has the rule */

typedef struct spot_kept_given {
    int      n, side, columns[ARRAYS];
    uint8_t *rgb;                          /* (n, side, side, 3) */
    float   *array[ARRAYS];                /* (n, columns); NULL: none */
} answers;

/* Where two answers differ most, in units of what rounding changes. */
typedef struct { double times, off; int picture, array; } difference;

static void free_answers(answers *a)
{
    free(a->rgb);
    for (int k = 0; k < ARRAYS; k++) free(a->array[k]);
    *a = (answers){ 0 };
}

static spot_status take_answers(spot_ctx *c, answers *a, const spot_predictor *p, int n)
{
    const spot_predictor_info *about = spot_predictor_about(p);
    const int columns[ARRAYS] = { about->outputs, about->dim, about->channels };

    *a = (answers){ .n = n, .side = about->side };
    a->rgb = malloc((size_t)n * 3 * (size_t)a->side * (size_t)a->side);
    if (!a->rgb) return spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", n);
    for (int k = 0; k < ARRAYS; k++) {
        a->columns[k] = columns[k];
        if (columns[k]) a->array[k] = malloc((size_t)n * (size_t)columns[k] * sizeof *a->array[k]);
        if (columns[k] && !a->array[k]) return spot_fail(c, SPOT_NOMEM, "no memory for the answers to %d pictures", n);
    }
    return SPOT_OK;
}

static spot_status ask(spot_ctx *c, answers *a, spot_predictor *p)
{
    return spot_predict(c, p, &(spot_prediction){ a->rgb, a->n, a->side, a->array[LOGITS], a->array[EMBEDDINGS],
                                                  a->array[CHANNELS] });
}

/* ---- pictures ---- */

int spot_kept_most(int side)
{
    const int fit = ROOM / (3 * side * side);

    return fit < 1 ? 1 : fit < MOST ? fit : MOST;
}

/* ---- files ---- */

bool spot_kept_path(char *path, size_t size, const char *dir, const char *identity)
{
    const char *dash = strchr(identity, '-');
    const bool kept = dash && strchr(dash + 1, '-') && !strchr(identity, '/');

    *path = 0;
    if (kept) snprintf(path, size, "%s/programs/%s.safetensors", dir, identity);
    return kept;
}

static spot_tensor tensor_of(const answers *a, int k)
{
    return spot_tensor_of(array_name[k], SPOT_F32, (size_t)a->n, a->columns[k], a->array[k]);
}

static void name_answers(char identity[SPOT_KEPT_IDENTITY], const answers *a, const char *command)
{
    spot_key key = spot_key_of(a->rgb, (size_t)a->n * 3 * (size_t)a->side * (size_t)a->side);

    for (int k = 0; k < ARRAYS; k++)
        if (a->columns[k])
            key = spot_key_join(key, array_name[k], a->array[k], (size_t)a->n * (size_t)a->columns[k] * sizeof *a->array[k]);
    snprintf(identity, SPOT_KEPT_IDENTITY, "%.24s-%016llx", command, (unsigned long long)key.hi);
}

static spot_status write_answers(spot_ctx *c, const answers *a, const char *path)
{
    spot_tensor tensor[ARRAYS + 1] = { { .name = "pictures", .type = SPOT_U8, .rank = 4, .data = a->rgb,
                                         .dim = { a->n, a->side, a->side, 3 },
                                         .bytes = (size_t)a->n * 3 * (size_t)a->side * (size_t)a->side } };
    int n = 1;

    for (int k = 0; k < ARRAYS; k++)
        if (a->columns[k]) tensor[n++] = tensor_of(a, k);
    SPOT_TRY(spot_folder_of(c, path));
    return spot_tensors_save(c, path, tensor, n);
}

/* A copy of a tensor; NULL where it has another type or rank, or no numbers. */
static void *copy_tensor(const spot_tensors *t, const char *name, spot_dtype type, int rank, const spot_tensor **found)
{
    const spot_tensor *v = *found = spot_tensors_find(t, name);
    void *copy = v && v->type == type && v->rank == rank && v->bytes ? malloc(v->bytes) : NULL;

    return copy ? memcpy(copy, v->data, v->bytes) : NULL;
}

/* False: there is no such file, or it is none that this program wrote. */
static bool read_answers(answers *a, const char *path)
{
    spot_ctx own = { 0 };                  /* its sentence interests nobody: what cannot be read is asked anew */
    const spot_tensor *v;
    spot_tensors t;
    bool whole;

    *a = (answers){ 0 };
    if (spot_tensors_open(&own, &t, path)) return false;
    a->rgb = copy_tensor(&t, "pictures", SPOT_U8, 4, &v);
    whole = a->rgb && v->dim[0] <= MOST_KEPT && v->dim[1] == v->dim[2] && v->dim[3] == 3;
    if (whole) a->n = (int)v->dim[0], a->side = (int)v->dim[1];
    for (int k = 0; k < ARRAYS && whole; k++) {
        a->array[k] = copy_tensor(&t, array_name[k], SPOT_F32, 2, &v);
        a->columns[k] = a->array[k] ? (int)v->dim[1] : 0;
        whole = a->array[k] ? v->dim[0] == a->n : !v && k != LOGITS;
    }
    spot_tensors_close(&t);
    if (!whole) free_answers(a);
    return whole;
}

/* ---- comparison ---- */

/* The most by which a column varies between pictures. */
static double spread_of(const answers *a, int k)
{
    const size_t columns = (size_t)a->columns[k];
    double most = 0;

    for (size_t j = 0; j < columns; j++) {
        float low = a->array[k][j], high = low;
        for (size_t i = 1; i < (size_t)a->n; i++) {
            const float v = a->array[k][i * columns + j];
            low = v < low ? v : low, high = v > high ? v : high;
        }
        most = fmax(most, (double)high - low);
    }
    return most;
}

/* Adds picture i of a, which is picture j of b, to d. */
static void compare_picture(difference *d, const answers *a, int i, const answers *b, int j, const double spread[ARRAYS])
{
    for (int k = 0; k < ARRAYS; k++)
        for (int m = 0; m < a->columns[k]; m++) {
            const double x = a->array[k][(size_t)i * (size_t)a->columns[k] + (size_t)m],
                         y = b->array[k][(size_t)j * (size_t)b->columns[k] + (size_t)m], off = fabs(x - y);
            const double times = off > 0 ? off / (of_spread * spread[k] + of_number * fabs(x)) : 0;
            if (times > d->times) *d = (difference){ times, off, i, k };
        }
}

static bool is_same_picture(const answers *a, int i, const answers *b, int j)
{
    const size_t each = 3 * (size_t)a->side * (size_t)a->side;

    return !memcmp(a->rgb + (size_t)i * each, b->rgb + (size_t)j * each, each);
}

/* Compares the pictures that both have; those of another size are other pictures. */
static difference compare(const answers *a, const answers *b)
{
    double spread[ARRAYS] = { 0 };
    difference d = { 0 };

    if (a->side != b->side) return d;
    if (memcmp(a->columns, b->columns, sizeof a->columns)) return (difference){ INFINITY, INFINITY, 0, LOGITS };
    for (int k = 0; k < ARRAYS; k++) spread[k] = spread_of(a, k);
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++)
            if (is_same_picture(a, i, b, j)) {
                compare_picture(&d, a, i, b, j, spread);
                break;
            }
    return d;
}

/* ---- a program ---- */

bool spot_known_has(const spot_known_program *k, const char *identity)
{
    for (int i = 0; i < k->n; i++)
        if (!strcmp(k->identity[i], identity)) return true;
    return false;
}

static void add_known(spot_known_program *k, const char *identity)
{
    if (!spot_known_has(k, identity) && k->n < SPOT_KNOWN_PROGRAMS)
        snprintf(k->identity[k->n++], SPOT_KEPT_IDENTITY, "%s", identity);
}

/* Asks p the pictures of a kept file; *d is how its answers differ. */
static spot_status compare_now(spot_ctx *c, difference *d, spot_predictor *p, const answers *kept)
{
    const spot_predictor_info *about = spot_predictor_about(p);
    answers now;
    spot_status s = take_answers(c, &now, p, kept->n);

    if (s == SPOT_OK) {
        memcpy(now.rgb, kept->rgb, (size_t)kept->n * 3 * (size_t)about->side * (size_t)about->side);
        s = ask(c, &now, p);
    }
    if (s == SPOT_OK) *d = compare(kept, &now);
    free_answers(&now);
    return s;
}

static void warn_of(spot_ctx *c, const difference *d, int n, const char *model, const char *folder)
{
    if (isinf(d->off))
        spot_log(c, SPOT_LOG_WARN, "%s: the program has not as many outputs, embeddings or channels as that of the run had; "
                 "what it answered is computed again", model);
    else
        spot_log(c, SPOT_LOG_WARN, "%s: the program's answers differ from those of the run: its %s by up to %.3g, for picture "
                 "%d of the %d in %s, which is %.3g times what rounding explains; what it answered is computed again", model,
                 array_name[d->array], d->off, d->picture + 1, n, folder, d->times);
}

typedef struct {
    spot_known_program *known;
    difference nearest;
    int kept;                              /* pictures of the file to which `nearest` belongs; 0: there is none */
} recalled;

static spot_status recall_file(spot_ctx *c, recalled *r, spot_predictor *p, const char *path, const char *identity)
{
    difference d;
    answers a;
    spot_status s = SPOT_OK;

    if (!read_answers(&a, path)) return SPOT_OK;
    if (a.side == spot_predictor_about(p)->side) {
        s = compare_now(c, &d, p, &a);
        if (s == SPOT_OK && d.times <= 1) add_known(r->known, identity);
        else if (s == SPOT_OK && (!r->kept || d.times < r->nearest.times)) r->nearest = d, r->kept = a.n;
    }
    free_answers(&a);
    return s;
}

/* Whether a file's name is the identity of a program with this command, which is then `identity`. */
static bool is_of_command(char identity[SPOT_KEPT_IDENTITY], const char *name, const char *command)
{
    const char *end = strstr(name, ".safetensors");
    const size_t n = strlen(command), length = end ? (size_t)(end - name) : 0;

    if (length <= n || length >= SPOT_KEPT_IDENTITY || strncmp(name, command, n) || name[n] != '-') return false;
    memcpy(identity, name, length);
    identity[length] = 0;
    return true;
}

spot_status spot_kept_recall_as(spot_ctx *c, spot_known_program *k, spot_predictor *p, const char *command, const char *dir,
                                const char *model)
{
    recalled r = { .known = k };
    struct dirent **file = NULL;
    char folder[1200], path[1500], identity[SPOT_KEPT_IDENTITY];
    spot_status s = SPOT_OK;

    *k = (spot_known_program){ .asked = true };
    snprintf(folder, sizeof folder, "%s/programs", dir);
    const int n = scandir(folder, &file, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, file[i]->d_name);
        if (s == SPOT_OK && is_of_command(identity, file[i]->d_name, command))
            s = recall_file(c, &r, p, path, identity);
        free(file[i]);
    }
    free(file);
    if (s == SPOT_OK && r.kept && !k->n) warn_of(c, &r.nearest, r.kept, model, folder);
    return s;
}

spot_status spot_kept_recall(spot_ctx *c, spot_known_program *k, spot_predictor *p, const char *dir, const char *model)
{
    return spot_kept_recall_as(c, k, p, spot_predictor_about(p)->identity, dir, model);
}

/* Answers to Spotter's pictures and to n others. */
static spot_status take_own(spot_ctx *c, answers *a, spot_predictor *p, const uint8_t *rgb, int n)
{
    const int side = spot_predictor_about(p)->side;
    const size_t each = 3 * (size_t)side * (size_t)side;

    SPOT_TRY(take_answers(c, a, p, OWN + n));
    for (int i = 0; i < OWN; i++) spot_own_picture(a->rgb + (size_t)i * each, side, i);
    if (n) memcpy(a->rgb + OWN * each, rgb, (size_t)n * each);
    return ask(c, a, p);
}

spot_status spot_kept_begin(spot_ctx *c, spot_known_program *k, spot_predictor *p, const char *dir, const uint8_t *rgb, int n)
{
    char identity[SPOT_KEPT_IDENTITY];
    answers a;
    spot_status s = take_own(c, &a, p, rgb, n);

    if (s == SPOT_OK) {
        name_answers(identity, &a, spot_predictor_about(p)->identity);
        s = spot_kept_write(c, &a, dir, identity);
        add_known(k, identity);
    }
    free_answers(&a);
    return s;
}

spot_status spot_kept_ask(spot_ctx *c, spot_kept_given **kept, spot_predictor *p)
{
    spot_status s;

    *kept = calloc(1, sizeof **kept);
    if (!*kept) return spot_fail(c, SPOT_NOMEM, "no memory for the answers of a program");
    s = take_own(c, *kept, p, NULL, 0);
    if (s) spot_kept_free(*kept), *kept = NULL;
    return s;
}

spot_status spot_kept_write(spot_ctx *c, const spot_kept_given *kept, const char *dir, const char *identity)
{
    char path[1400];

    spot_kept_path(path, sizeof path, dir, identity);
    return *path ? write_answers(c, kept, path) : SPOT_OK;
}

void spot_kept_free(spot_kept_given *kept)
{
    if (kept) free_answers(kept);
    free(kept);
}

static spot_status copy_file(spot_ctx *c, const char *to, const char *from)
{
    unsigned char *bytes;
    size_t n;

    SPOT_TRY(spot_file_read(c, from, &bytes, &n, SIZE_MAX));
    const spot_status s = spot_file_write(c, to, bytes, n);
    free(bytes);
    return s;
}

spot_status spot_kept_copy(spot_ctx *c, const char *dir, const char *from)
{
    struct dirent **file = NULL;
    char folder[1200];
    spot_status s = SPOT_OK;

    snprintf(folder, sizeof folder, "%s/programs", from);
    const int n = scandir(folder, &file, NULL, NULL);
    for (int i = 0; i < n; i++) {
        char *end = strstr(file[i]->d_name, ".safetensors");
        if (s == SPOT_OK && end && !end[12]) {
            *end = 0;
            s = spot_kept_copy_one(c, dir, from, file[i]->d_name);
        }
        free(file[i]);
    }
    free(file);
    return s;
}

spot_status spot_kept_copy_one(spot_ctx *c, const char *dir, const char *from, const char *identity)
{
    char path[1400], old[1400];

    if (!spot_kept_path(path, sizeof path, dir, identity) || !spot_kept_path(old, sizeof old, from, identity)) return SPOT_OK;
    if (access(old, R_OK) || !access(path, F_OK)) return SPOT_OK;
    SPOT_TRY(spot_folder_of(c, path));
    return copy_file(c, path, old);
}

bool spot_kept_same(spot_ctx *c, const char *dir_a, const char *a, const char *dir_b, const char *b)
{
    char path_a[1400], path_b[1400];
    answers x, y;
    bool same = true;

    (void)c;
    if (!strcmp(a, b)) return true;
    if (!spot_kept_path(path_a, sizeof path_a, dir_a, a) || !spot_kept_path(path_b, sizeof path_b, dir_b, b)) return false;
    if (strrchr(a, '-') - a != strrchr(b, '-') - b || strncmp(a, b, (size_t)(strrchr(a, '-') - a))) return false;
    if (!read_answers(&x, path_a)) return false;
    if (read_answers(&y, path_b)) {
        same = compare(&x, &y).times <= 1;
        free_answers(&y);
    } else same = false;
    free_answers(&x);
    return same;
}
