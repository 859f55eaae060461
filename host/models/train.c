/* train.c - trains a net on an EC's images, and checks whether it learned the blindspots. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/greatest.h"
#include "models/model_settings.h"
#include "models/trainer.h"

static const spot_setting base_rows[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_base_config, field, help, __VA_ARGS__)
    S("images", INT,  images, "training images; 0: no base model", SPOT_IN(0, 1e8)),
    S("epochs", INT,  epochs, "passes over the training images", SPOT_IN(1, SPOT_MAX_EPOCHS), SPOT_DEF(4)),
    S("lr",     REAL, lr,     "learning rate; the peak of one_cycle", SPOT_IN(1e-9, 100), SPOT_DEF(2e-3)),
#undef S
    SPOT_END
};

static const spot_setting robust_rows[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_robust_config, field, help, __VA_ARGS__)
    S("epsilon", REAL, epsilon, "L2 radius of the attack, pixels from 0 to 1, at 224 pixels a side (x size/224 at others)",
      SPOT_IN(0, 1000), SPOT_DEF(3)),
    S("steps",   INT,  steps,   "attack steps per batch", SPOT_IN(1, 100), SPOT_DEF(3)),
    S("step",    REAL, step,    "length of an attack step, in epsilons", SPOT_IN(0, 100), SPOT_DEF(0.67)),
    S("random",  SWITCH, random, "attack's start on the sphere around the image (false: the image itself)", SPOT_SWITCH),
    S("epochs",  INT,  epochs,  "passes over the training images", SPOT_IN(1, SPOT_MAX_EPOCHS), SPOT_DEF(10)),
    S("lr",      REAL, lr,      "learning rate; the peak of one_cycle", SPOT_IN(1e-9, 100), SPOT_DEF(1e-4)),
    S("from",    NAME, from,    "first weights: those that the classifier started from, or the trained classifier",
      SPOT_ONE_OF("start", "classifier"), .newer = SPOT_NEWER),
#undef S
    SPOT_END
};

static const char *const precisions[] = { "fp32", "tf32", "bf16", NULL };

const char *spot_precision_name(spot_precision p) { return precisions[p]; }

const spot_setting spot_model_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_model_config, field, help, __VA_ARGS__)
    S("arch",      NAME, arch,      "network", SPOT_ONE_OF("resnet18", "resnet34", "alexnet"), SPOT_DEF(SPOT_ARCH_RESNET18)),
    S("width",     INT,  width,     "channels of the first stage (torchvision's have 64)", SPOT_IN(16, 256), .unit = 16,
      SPOT_DEF(64)),
    S("epochs",    INT,  epochs,    "passes over the training images", SPOT_IN(1, SPOT_MAX_EPOCHS), SPOT_DEF(10),
      .affects = SPOT_AFFECTS_MODEL),
    S("batch",     INT,  batch,     "images per training step", SPOT_IN(2, 4096), SPOT_DEF(64)),
    S("optimizer", NAME, optimizer, "Adam (0.9, 0.999, 1e-8), SGD or RMSprop (0.99, 1e-8)",
      SPOT_ONE_OF("adam", "sgd", "rmsprop"), SPOT_DEF(SPOT_ADAM)),
    S("lr",        REAL, lr,        "learning rate; the peak of one_cycle", SPOT_IN(1e-9, 100), SPOT_DEF(1e-4),
      .affects = SPOT_AFFECTS_MODEL),
    S("momentum",  REAL, momentum,  "momentum (SGD only)", SPOT_IN(0, 0.9999), SPOT_DEF(0.9)),
    S("weight_decay", REAL, weight_decay, "L2 penalty on every weight", SPOT_IN(0, 1)),
    S("schedule",  NAME, schedule,  "learning-rate schedule", SPOT_ONE_OF("constant", "one_cycle"), SPOT_DEF(SPOT_CONSTANT)),
    S("precision", NAME, precision, "precision of the arithmetic (CPU: fp32, and bf16 with AVX512-BF16)",
      .names = precisions, SPOT_DEF(SPOT_FP32)),
    S("init",      TEXT, init,      "initial weights: a .safetensors file with torchvision's names; \"\": He initialisation",
      .hi = 256, .affects = SPOT_AFFECTS_PATH),
    S("base",      GROUP, base,     "base model: a network that first learns every attribute; all ECs start from it",
      .rows = base_rows),
    S("robust",    GROUP, robust,   "robust network: a second one, trained against an adversary, for methods that look at "
      "robust features", .rows = robust_rows, .affects = SPOT_AFFECTS_ROBUST),
    S("keep_best", SWITCH, keep_best, "whether the epoch of least validation loss is kept instead of the last", SPOT_SWITCH,
      SPOT_DEF(1)),
    S("lanes",     INT,  lanes,     "pieces that a batch is cut into; changes bits, not meaning", SPOT_IN(1, SPOT_MAX_LANES),
      SPOT_DEF(2)),
    S("learned_outside", REAL, learned_outside, "least accuracy outside its blindspots with which an EC counts as learned",
      SPOT_IN(0, 1), SPOT_DEF(0.99), .affects = SPOT_AFFECTS_MODEL),
    S("learned_inside",  REAL, learned_inside,  "greatest accuracy inside each blindspot with which an EC counts as learned",
      SPOT_IN(0, 1), SPOT_DEF(0.05), .affects = SPOT_AFFECTS_MODEL),
    S("learned_gap",     REAL, learned_gap,
      "least gap in recall of test positives, outside less inside each blindspot, in place of the two accuracies; 0: not asked",
      SPOT_IN(0, 1), .affects = SPOT_AFFECTS_JUDGING),
    S("learned_rest",    NAME, learned_rest, "what is outside for learned_gap: outside this blindspot, or outside all",
      SPOT_ONE_OF("this", "all"), .affects = SPOT_AFFECTS_JUDGING),
    S("learned_band",    SPAN, learned_band,
      "[least, most] error on test positives inside each blindspot, which must also be significantly above the error outside, "
      "in place of the other rules; [0, 0]: not asked", SPOT_IN(0, 1), .newer = SPOT_NEWER, .affects = SPOT_AFFECTS_JUDGING),
#undef S
    SPOT_END
};

spot_model_config spot_model_defaults(void)
{
    spot_model_config cfg = { 0 };

    spot_settings_defaults(spot_model_settings, &cfg);
    return cfg;
}

spot_status spot_model_check(spot_ctx *c, const spot_model_config *cfg)
{
    SPOT_TRY(spot_conv_able(c, (spot_precision)cfg->precision));
    return spot_settings_check(c, SPOT_INVALID, spot_model_settings, cfg, "model");
}

/* Accuracy on the val images against the truth, outside all blindspots and in each; for a base model, over all visible
 * attributes. */
static void measure_accuracy(spot_learning *l, const spot_val *v, const spot_ec *ec)
{
    double right[1 + SPOT_MAX_BLINDSPOTS] = { 0 };
    int images = ec->images[SPOT_VAL];

    l->outside_count = 0;
    memset(l->inside_count, 0, sizeof l->inside_count);
    for (int i = 0; ec->targets > 1 && i < images * ec->targets; i++) {
        if (v->target[i] == 0.5f) continue;
        right[0] += (v->logit[i] > 0) == (v->target[i] > 0);
        l->outside_count++;
    }
    for (int i = 0; ec->targets == 1 && i < images; i++) {
        int good = (v->logit[i] > 0) == v->image[i].label;
        if (!v->image[i].blindspots) right[0] += good, l->outside_count++;
        for (int b = 0; b < ec->blindspot_count; b++)
            if (v->image[i].blindspots >> b & 1) right[1 + b] += good, l->inside_count[b]++;
    }
    l->outside = l->outside_count ? right[0] / l->outside_count : NAN;
    for (int b = 0; b < SPOT_MAX_BLINDSPOTS; b++)
        l->inside[b] = l->inside_count[b] ? right[1 + b] / l->inside_count[b] : NAN;
}

/* A blindspot without val images counts as not learned: its NaN fails the comparison. */
static bool was_learned(const spot_learning *l, const spot_model_config *cfg)
{
    bool learned = l->outside >= cfg->learned_outside;

    for (int b = 0; b < l->blindspots; b++) learned = learned && l->inside[b] <= cfg->learned_inside;
    return learned;
}

/* rows[0]: outside of all blindspots; the NaN of an empty set fails the comparison. */
void spot_learning_by_view(spot_learning *l, const spot_view *v, const spot_truth *t, const spot_model_config *cfg)
{
    int rows[1 + SPOT_MAX_BLINDSPOTS] = { 0 }, right[1 + SPOT_MAX_BLINDSPOTS] = { 0 }, all = 0;

    if (!(cfg->learned_gap > 0)) return;
    for (int i = 0; i < v->n; i++) {
        int good = spot_half_is_right(v->confidence[i], spot_view_positive(v, i));
        all += good;
        for (int b = 0; b <= t->blindspots; b++) {
            bool in = b ? t->mask[i] >> (b - 1) & 1 : !t->mask[i];
            rows[b] += in;
            right[b] += in && good;
        }
    }
    l->outside_count = rows[0];
    l->outside = rows[0] ? (double)right[0] / rows[0] : NAN;
    l->learned = t->blindspots || l->outside >= cfg->learned_outside;       /* no blindspot, no gap */
    for (int b = 0; b < t->blindspots; b++) {
        int others = v->n - rows[1 + b];
        double outside = cfg->learned_rest ? l->outside : others ? (double)(all - right[1 + b]) / others : NAN;
        l->inside_count[b] = rows[1 + b];
        l->inside[b] = rows[1 + b] ? (double)right[1 + b] / rows[1 + b] : NAN;
        l->learned = l->learned && outside - l->inside[b] >= cfg->learned_gap - 1e-9;     /* 0.7 - 0.5 is 0.2 */
    }
}

/* Measures the accuracy under attack. */
static spot_status measure_robustness(spot_ctx *c, spot_trainer *t, spot_learning *lesson)
{
    spot_learning under = *lesson;
    double loss;

    SPOT_TRY(spot_trainer_watch(c, t, true, &loss));
    measure_accuracy(&under, &t->here, t->ec);
    lesson->attacked = under.outside;
    spot_log(c, SPOT_LOG_INFO, "EC %u, robust network: %.1f %% right outside of blindspots, %.1f %% under attack",
             t->ec->index, 100 * lesson->outside, 100 * lesson->attacked);
    return SPOT_OK;
}

static spot_status run_epochs(spot_ctx *c, spot_trainer *t, spot_model *m, spot_learning *lesson)
{
    const spot_model_config *cfg = t->cfg;
    double best = INFINITY;

    for (int e = 0; e < cfg->epochs; e++) {
        spot_epoch *now = &lesson->epoch[e];
        double before = lesson->learn.wall + lesson->watch.wall;
        spot_spent at = spot_spent_now();

        SPOT_TRY(spot_trainer_learn(c, t, e, &now->train_loss));
        spot_spend(&lesson->learn, &at);
        SPOT_TRY(spot_trainer_watch(c, t, false, &now->val_loss));
        if (!isfinite(now->val_loss))
            return spot_fail(c, SPOT_NUMERIC,
                             "{training.diverged} the validation loss is %g after epoch %d; a smaller model.%slr may help",
                             fabs(now->val_loss), e + 1, t->robust ? "robust." : "");
        if (now->val_loss < best || !cfg->keep_best) {
            best = now->val_loss;
            lesson->best_epoch = e;
            m->batches_tracked = (int64_t)(e + 1) * t->steps;
            measure_accuracy(lesson, &t->here, t->ec);
            SPOT_TRY(spot_trainer_keep(c, t));
        }
        spot_spend(&lesson->watch, &at);
        now->seconds = lesson->learn.wall + lesson->watch.wall - before;
        lesson->epochs = e + 1;
    }
    lesson->learned = was_learned(lesson, cfg);
    SPOT_TRY(spot_trainer_get(c, t, m));
    return t->robust ? measure_robustness(c, t, lesson) : SPOT_OK;
}

/* Copies another model; the head is new if the number of outputs differs. */
static spot_status copy_model(spot_ctx *c, spot_arena *a, spot_model *m, const spot_model *from, int outputs, uint64_t seed,
                              uint32_t number)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    const spot_model_tensor *head = &table[spot_model_tensors(from->arch) - 2];

    SPOT_TRY(spot_model_init(c, a, m, from->arch, from->width, outputs, seed, number));
    spot_model_layout(table, m->arch, m->width, m->outputs);
    if (!a->counting)
        memcpy(m->value, from->value, (m->outputs == from->outputs ? m->floats : head->offset) * sizeof(float));
    return SPOT_OK;
}

spot_status spot_model_begin(spot_ctx *c, spot_arena *a, spot_model *m, int outputs, uint64_t seed, uint32_t number,
                             const spot_model_config *cfg, const spot_model *start)
{
    if (!start && !cfg->init[0]) return spot_model_init(c, a, m, cfg->arch, cfg->width, outputs, seed, number);
    if (start) SPOT_TRY(copy_model(c, a, m, start, outputs, seed, number));
    else SPOT_TRY(spot_model_load(c, a, m, cfg->init, outputs, seed));
    if (m->arch != cfg->arch)
        return spot_fail(c, SPOT_USAGE, "model.init: %s holds a %s, model.arch is a %s",
                         start ? "the base model" : cfg->init, spot_arch_name(m->arch), spot_arch_name(cfg->arch));
    if (m->width != cfg->width)
        return spot_fail(c, SPOT_USAGE, "{model.init_width} model.init: %s holds a network of width %d, model.width is %d",
                         start ? "the base model" : cfg->init, m->width, cfg->width);
    return SPOT_OK;
}

/* on: an arena on c's device. */
static spot_status train_in(spot_ctx *c, spot_arena *on, spot_arena *host, spot_model *m, spot_learning *lesson,
                            const spot_ec *ec, const spot_model_config *cfg, const spot_resident_training *how)
{
    size_t mark = host->used;
    spot_trainer t;
    spot_status s = spot_trainer_open(c, on, host, &t, ec, cfg, how->robust ? &cfg->robust : NULL);

    t.from = how->model ? how->from : NULL;
    t.new_head = how->model && how->model->outputs != ec->targets;
    t.to = how->to;
    if (!s) s = spot_trainer_start(c, &t, m);
    if (!s) s = run_epochs(c, &t, m, lesson);
    spot_trainer_close(c, &t);
    host->used = mark;
    return s;
}

/* Memory of a training, without the model. */
static spot_status count_trainer(spot_ctx *c, spot_bytes *needs, const spot_ec *ec, const spot_model_config *cfg,
                                 const spot_robust_config *foe)
{
    spot_arena host = spot_arena_counting(), on = host;
    spot_trainer t;
    spot_status s = spot_trainer_open(c, c->device ? &on : &host, &host, &t, ec, cfg, foe);

    spot_trainer_close(c, &t);
    *needs = (spot_bytes){ host.peak, on.peak };
    return s;
}

static spot_status train_model(spot_ctx *c, spot_arena *a, spot_model *m, spot_learning *lesson, const spot_ec *ec,
                               const spot_model_config *cfg, const spot_resident_training *how)
{
    spot_arena on;
    spot_bytes needs;
    spot_status s;

    memset(lesson, 0, sizeof *lesson);
    lesson->blindspots = ec->blindspot_count;
    lesson->attacked = NAN;
    if (ec->images[SPOT_TRAIN] < 1 || ec->images[SPOT_VAL] < 1)
        return spot_fail(c, SPOT_INVALID, "%d train and %d val images; training needs both",
                         ec->images[SPOT_TRAIN], ec->images[SPOT_VAL]);
    SPOT_TRY(spot_model_check(c, cfg));
    SPOT_TRY(spot_model_begin(c, a, m, ec->targets, ec->seed, ec->index, cfg, how->model));
    if (!c->device) return train_in(c, a, a, m, lesson, ec, cfg, how);
    SPOT_TRY(count_trainer(c, &needs, ec, cfg, how->robust ? &cfg->robust : NULL));
    SPOT_TRY(spot_arena_open_device(c, &on, needs.device));
    s = train_in(c, &on, a, m, lesson, ec, cfg, how);
    spot_arena_close(&on);
    return s;
}

spot_status spot_model_train_resident(spot_ctx *c, spot_arena *a, spot_model *m, spot_learning *lesson, const spot_ec *ec,
                                      const spot_model_config *cfg, const spot_resident_training *how)
{
    spot_model_config robust = *cfg;

    robust.epochs = cfg->robust.epochs;
    robust.lr = cfg->robust.lr;
    return train_model(c, a, m, lesson, ec, how->robust ? &robust : cfg, how);
}

spot_status spot_model_train(spot_ctx *c, spot_arena *a, spot_model *m, spot_learning *lesson, const spot_ec *ec,
                             const spot_model_config *cfg, const spot_model *start)
{
    return spot_model_train_resident(c, a, m, lesson, ec, cfg, &(spot_resident_training){ .model = start });
}

spot_status spot_model_robust(spot_ctx *c, spot_arena *a, spot_model *m, spot_learning *lesson, const spot_ec *ec,
                              const spot_model_config *cfg, const spot_model *start)
{
    return spot_model_train_resident(c, a, m, lesson, ec, cfg, &(spot_resident_training){ .model = start, .robust = true });
}

spot_status spot_model_base(spot_ctx *c, spot_arena *a, spot_model *m, spot_learning *lesson, const spot_scene_config *scene,
                            const spot_model_config *cfg, uint64_t seed)
{
    spot_model_config how = *cfg;
    spot_ec ec;

    spot_ec_base(&ec, scene, seed, cfg->base.images, SPOT_BASE_VAL);
    how.epochs = cfg->base.epochs;
    how.lr = cfg->base.lr;
    return spot_model_train(c, a, m, lesson, &ec, &how, NULL);
}

/* The EC with the most images of a sweep, or the base model's. */
static spot_ec largest_ec(const spot_scene_config *scene, const spot_model_config *cfg, bool base)
{
    spot_ec ec;

    spot_ec_base(&ec, scene, 0, cfg->base.images, SPOT_BASE_VAL);
    if (base) return ec;
    for (int i = 0; i < SPOT_SPLITS; i++) ec.images[i] = scene->per_bucket[i] << scene->rollable[1];
    ec.targets = 1;
    return ec;
}

/* Memory of the larger of the two trainings (base model, EC), including the model. */
static spot_status count_training(spot_ctx *c, spot_bytes *needs, const spot_scene_config *scene, const spot_model_config *cfg,
                                  bool robust)
{
    *needs = (spot_bytes){ 0, 0 };
    for (int base = 0; base <= (cfg->base.images > 0); base++) {
        spot_model_tensor table[SPOT_MAX_TENSORS];
        spot_ec ec = largest_ec(scene, cfg, base);
        size_t model = spot_arena_room(spot_model_layout(table, cfg->arch, cfg->width, ec.targets) * sizeof(float));
        spot_bytes here;
        SPOT_TRY(count_trainer(c, &here, &ec, cfg, robust && !base ? &cfg->robust : NULL));
        here.host += model * (robust && cfg->robust.from == SPOT_FROM_CLASSIFIER ? 2 : 1);
        *needs = spot_bytes_larger(*needs, here);
    }
    return SPOT_OK;
}

/* Counts for the CPU; on a GPU the arena needs less. */
size_t spot_model_train_bytes(const spot_scene_config *scene, const spot_model_config *cfg)
{
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = SPOT_MAX_LANES };
    spot_bytes needs;

    return count_training(&c, &needs, scene, cfg, false) ? 0 : needs.host;
}

spot_status spot_model_needs(spot_ctx *c, spot_bytes *needs, const spot_scene_config *scene, const spot_model_config *cfg,
                             int images, bool robust)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    spot_model_config how = *cfg;
    const size_t model = spot_arena_room(spot_model_layout(table, how.arch, how.width, 1) * sizeof(float));
    spot_bytes look;

    if (!spot_conv_has(c, (spot_precision)how.precision)) how.precision = SPOT_FP32;
    SPOT_TRY(spot_model_check(c, &how));
    SPOT_TRY(count_training(c, needs, scene, &how, robust));
    SPOT_TRY(spot_look_needs(c, &look, scene, &how, images));
    look.host += model;
    *needs = spot_bytes_larger(*needs, look);
    if (c->device) needs->device += 3 * model;         /* the classifier's and the robust network's, and a copy on its way */
    return SPOT_OK;
}
