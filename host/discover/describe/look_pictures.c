/* look_pictures.c - pictures and a network -> subject. */
#include "discover/describe/look_pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/greatest.h"
#include "discover/describe/gallery.h"
#include "discover/subject/subject_memory.h"
#include "models/foreign_model.h"
#include "models/idle_cores.h"
#include "models/network.h"
#include "models/picture_input.h"
#include "models/predictor_kinds.h"
#include "spotter/model.h"
#include "spotter/predictor.h"
#include "worlds/picture_batches.h"

/* Pictures per batch; a smaller first batch, to estimate the time early. */
enum { BATCH = 256, FIRST = 32 };

typedef struct {
    spot_ctx     *c;
    spot_subject *s;
    const spot_subject_files *files;
    spot_arena    weights;
    spot_look_pixels net;
    spot_model    m;               /* of the net; its `outputs` are also those of ... */
    spot_predictor *program;       /* ... a model that Spotter does not run itself; else NULL */
    spot_picture_batches batches;
    float        *logit;       /* (BATCH, outputs) */
    int           kept;        /* pictures seen so far */
} looker;

/* -- one batch --------------------------------------------------------------------------------------------------------- */

static void soft_max(float *p, const float *logit, int n)
{
    const int best = spot_first_greatest(logit, n);
    const double most = logit[best];
    double sum = 0;

    for (int k = 0; k < n; k++) sum += exp(logit[k] - most);
    for (int k = 0; k < n; k++) p[k] = (float)(exp(logit[k] - most) / sum);
    spot_keep_greatest(p, n, best);
}

static spot_status fill_prob(looker *l, int row, const float *logit)
{
    spot_subject *s = l->s;
    float *p = s->prob + (size_t)row * s->classes;

    for (int k = 0; k < l->m.outputs; k++)
        if (!isfinite(logit[k]))
            return spot_fail(l->c, SPOT_NUMERIC, "%s: output %d for %s is not a finite number", l->files->model, k,
                             s->image[row]);
    if (s->has) {
        for (int k = 0; k < s->classes; k++) p[k] = (float)spot_sigmoid(logit[k]);
        return SPOT_OK;
    }
    if (l->m.outputs == 1) {
        p[0] = (float)spot_sigmoid(-(double)logit[0]);
        p[1] = (float)spot_sigmoid(logit[0]);
        spot_keep_greatest(p, 2, logit[0] > 0);
    } else {
        soft_max(p, logit, s->classes);
    }
    s->confidence[row] = p[s->target[row]];
    return SPOT_OK;
}

static spot_status look_at(spot_ctx *c, looker *l, float *feature, const uint8_t *rgb, int n)
{
    if (!l->program) return spot_look_pixels_run(c, &l->net, l->logit, feature, NULL, rgb, n);
    return spot_predict(c, l->program, &(spot_prediction){ rgb, n, l->files->crop, l->logit,
                                                           spot_predictor_about(l->program)->dim ? feature : NULL, NULL });
}

/* Moves the rows of readable pictures to the front and fills them. */
static spot_status infer_batch(spot_ctx *c, void *user, const spot_picture_batch *b)
{
    looker *l = user;
    spot_subject *s = l->s;

    for (int i = 0; i < b->n; i++) {
        if (l->kept + i == b->picture[i]) continue;
        SPOT_TRY(spot_subject_number_rows(c, s));
        spot_subject_move_row(s, l->kept + i, b->picture[i]);
    }
    SPOT_TRY(look_at(c, l, s->feature + (size_t)l->kept * s->d, b->rgb, b->n));
    for (int i = 0; i < b->n; i++) SPOT_TRY(fill_prob(l, l->kept + i, l->logit + (size_t)i * l->m.outputs));
    l->kept += b->n;
    return SPOT_OK;
}

static spot_status infer_all(looker *l)
{
    spot_subject *s = l->s;
    int all = s->n;

    SPOT_TRY(spot_picture_batches_run(l->c, &l->batches));
    if (s->skipped > SPOT_PICTURES_NAMED)
        spot_log(l->c, SPOT_LOG_WARN, "left out: %d more that cannot be read", s->skipped - SPOT_PICTURES_NAMED);
    if (l->kept < all) SPOT_TRY(spot_subject_number_rows(l->c, s));
    spot_subject_keep_rows(s, l->kept);
    if (!l->kept) return spot_fail(l->c, SPOT_INPUT, "none of the %d pictures in %s can be read", all, l->files->images);
    return SPOT_OK;
}

/* Row k of the head: the direction of class k's logit. A single output is class 1's logit; its negative is class 0's. */
static void fill_head(looker *l)
{
    spot_subject *s = l->s;
    spot_model_tensor table[SPOT_MAX_TENSORS];
    const float *w;

    spot_model_layout(table, l->m.arch, l->m.width, l->m.outputs);
    w = l->m.value + table[spot_model_tensors(l->m.arch) - 2].offset;
    if (l->m.outputs == s->classes) {
        memcpy(s->head, w, (size_t)s->classes * s->d * sizeof *w);
        return;
    }
    for (int k = 0; k < s->d; k++) {
        s->head[k] = -w[k];
        s->head[s->d + k] = w[k];
    }
}

/* -- before looking ---------------------------------------------------------------------------------------------------- */

static spot_status open_network(looker *l)
{
    const char *path = l->files->model;
    spot_arena count = spot_arena_counting();

    if (l->files->crop % 32 || l->files->crop < 32)
        return spot_fail(l->c, SPOT_USAGE, "{look.crop} crop %d, resize %d: the network looks at squares of 32, 64, ... %d "
                         "pixels (224), cut from pictures whose shorter side is resized (256; 0: is left)", l->files->crop,
                         l->files->resize, SPOT_PICTURE_CROP);
    SPOT_TRY(spot_model_load(l->c, &count, &l->m, path, 0, 0));
    SPOT_TRY(spot_arena_open(l->c, &l->weights, count.peak));
    SPOT_TRY(spot_model_load(l->c, &l->weights, &l->m, path, 0, 0));
    l->m.pixels = spot_imagenet_rule();
    SPOT_TRY(spot_picture_input_rule(l->c, &l->m.pixels, &l->files->input));
    l->s->d = spot_model_features(l->m.arch, l->m.width);
    return SPOT_OK;
}

/* The model is a program, or a network that runs as one. Without embeddings of its own those of --embed take their place; a
 * column of zeros holds it until then. */
static spot_status open_program(looker *l)
{
    const bool program = spot_is_foreign(l->files->model);
    const spot_predictor_options o = { .kind = program ? SPOT_PREDICTOR_COMMAND : SPOT_PREDICTOR_WEIGHTS,
                                       .side = l->files->crop, .command = l->files->model, .weights = l->files->model,
                                       .input = l->files->input };
    const spot_predictor_info *about;

    SPOT_TRY(spot_predictor_open(l->c, &l->program, &o));
    about = spot_predictor_about(l->program);
    l->m.outputs = about->outputs;
    l->s->d = about->dim ? about->dim : 1;
    if (about->dim || l->files->embed) return SPOT_OK;
    return spot_fail(l->c, SPOT_INPUT, "{look.no_embeddings} %s answers without embeddings, by which pictures are compared; "
                     "let it send them, or give an encoder with --embed", l->files->model);
}

static spot_status open_model(looker *l)
{
    const char *path = l->files->model;
    spot_subject *s = l->s;

    SPOT_TRY(spot_is_foreign(path) || spot_predictor_is_vit(path) ? open_program(l) : open_network(l));
    if (!spot_is_foreign(path)) spot_warn_of_fp32_alone(l->c, "networks of --model");
    if (!s->class_name) {      /* labels that are numbers leave open how many classes there are: the network knows */
        int known = l->m.outputs > 1 ? l->m.outputs : 2;
        if (s->target && s->classes < known) s->classes = known;
        SPOT_TRY(spot_subject_numbers(l->c, s, &s->class_name, s->classes));
    }
    if (l->m.outputs == 1 && s->classes == 2 && s->target) return SPOT_OK;
    if (l->m.outputs != s->classes || (s->classes == 1 && s->target))
        return spot_fail(l->c, SPOT_INPUT,
                         "{look.classes} %s has %d outputs, %s has %d classes (%.80s ... %.80s); as many are wanted%s", path,
                         l->m.outputs, l->files->coco ? l->files->coco : l->files->labels ? l->files->labels : l->files->images,
                         s->classes, s->class_name[0], s->class_name[s->classes - 1],
                         s->target ? ", or one output and two classes" : "");
    return SPOT_OK;
}

static void say_input(const looker *l)
{
    spot_input_words square;

    spot_square_words(&square, l->files->resize, l->files->crop, l->batches.filter);
    spot_picture_input_say(l->c, l->files->model, square.text, l->program ? NULL : &l->m.pixels, SPOT_INPUT_OPTIONS);
}

static spot_status take_memory(looker *l)
{
    spot_subject *s = l->s;
    size_t n = (size_t)s->n, classes = (size_t)s->classes, bytes, most = l->files->memory, decoding;
    const bool vit = !spot_is_foreign(l->files->model) && spot_predictor_is_vit(l->files->model);
    const spot_filter filter = spot_picture_input_filter(&l->files->input, vit ? SPOT_BICUBIC : SPOT_BILINEAR);
    const spot_look_rule rule = { .size = l->files->crop, .pictures = s->n < BATCH ? s->n : BATCH };
    spot_bytes net = { 0 };

    l->batches = (spot_picture_batches){ .path = s->image, .n = s->n, .batch = BATCH, .early = FIRST,
                                         .resize = l->files->resize, .crop = l->files->crop, .filter = filter,
                                         .reading = l->files->reading,
                                         .stage = "look", .skip = l->files->skip, .option = "--skip-unreadable",
                                         .skipped = &s->skipped,
                                         .take = infer_batch, .user = l };
    if (!l->program) SPOT_TRY(spot_look_pixels_needs(l->c, &net, &l->m, &rule));
    bytes = n * ((size_t)s->d + classes + 1) * sizeof(float) + spot_picture_batches_bytes(l->c, &l->batches) + l->weights.size
          + net.host;
    l->batches.memory = decoding = most > bytes ? most - bytes : SPOT_PICTURE_MEMORY;
    spot_log(l->c, SPOT_LOG_INFO, "%s: %d pictures of %d classes, seen by %s: takes %.0f MB, and decoding at most %.0f MB; "
             "up to %d pictures are decoded at a time, fewer where they are large", l->files->images, s->n, s->classes,
             l->files->model, (double)bytes / 1e6, (double)decoding / 1e6, l->c->threads);
    say_input(l);
    if (most && bytes >= most)
        return spot_fail(l->c, SPOT_INPUT, "{look.memory} %s: looking takes %zu bytes of memory where %zu are allowed",
                         l->files->images, bytes, most);
    SPOT_TRY(SPOT_SUBJECT_TAKE(l->c, s, s->feature, n * (size_t)s->d));
    SPOT_TRY(SPOT_SUBJECT_TAKE(l->c, s, s->prob, n * classes));
    if (!l->program) SPOT_TRY(SPOT_SUBJECT_TAKE(l->c, s, s->head, classes * (size_t)s->d));
    else memset(s->feature, 0, n * (size_t)s->d * sizeof *s->feature);
    if (s->target) SPOT_TRY(SPOT_SUBJECT_TAKE(l->c, s, s->confidence, n));
    if (!l->program) SPOT_TRY(spot_look_pixels_open(l->c, &l->net, &l->m, &rule));
    l->logit = malloc(BATCH * (size_t)l->m.outputs * sizeof *l->logit);
    return l->logit ? SPOT_OK : spot_fail(l->c, SPOT_NOMEM, "no memory to look at pictures");
}

static void close_looker(looker *l)
{
    free(l->logit);
    spot_predictor_close(l->c, l->program);
    spot_look_pixels_close(l->c, &l->net);
    spot_arena_close(&l->weights);
}

spot_status spot_subject_look(spot_ctx *c, spot_subject *s, const spot_subject_files *files)
{
    looker l = { .c = c, .s = s, .files = files };
    spot_status status;

    if (files->crop < 1 || files->crop > SPOT_PICTURE_CROP || files->resize < SPOT_SQUEEZE)
        return spot_fail(c, SPOT_USAGE, "{look.crop} crop %d, resize %d: the network looks at squares of 32, 64, ... %d pixels "
                         "(224), cut from pictures whose shorter side is resized (256; 0: is left)", files->crop, files->resize,
                         SPOT_PICTURE_CROP);
    SPOT_TRY(spot_gallery_open(c, s, files));
    status = open_model(&l);
    if (!status) status = take_memory(&l);
    if (!status) status = infer_all(&l);
    if (!status && !l.program) fill_head(&l);
    close_looker(&l);
    if (!status)
        snprintf(s->source, sizeof s->source, "%d pictures of %d classes in %.150s%s%.150s, seen by %.150s", s->n, s->classes,
                 files->images, files->coco ? " as in " : "", files->coco ? files->coco : "", files->model);
    return status;
}
