/* sweep_cost.c - the cost of a sweep, before it starts: memory from the counting functions, images and bytes on the disk
 * from the ECs, seconds from a calibration (sweep_pace.c); and the check that there is room for it. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/room.h"
#include "core/device.h"
#include "models/encoder_look.h"
#include "models/idle_cores.h"
#include "net/conv.h"
#include "spotter/config.h"
#include "spotter/sweep.h"
#include "spotter/work.h"
#include "store/embedding.h"
#include "store/pixel_cache.h"
#include "sweep/encoder_view.h"
#include "sweep/retention.h"
#include "sweep/sweep_pace.h"

static size_t view_bytes(int features, int rows)
{
    return ((size_t)rows * (size_t)(features + 3) + (size_t)features) * 4 + ((size_t)1 << 16);
}

static int features_of(const spot_config *cfg) { return spot_model_features(cfg->model.arch, cfg->model.width); }

static size_t model_bytes(const spot_config *cfg, int outputs)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];

    return spot_arena_room(spot_model_layout(table, cfg->model.arch, cfg->model.width, outputs) * sizeof(float));
}

static size_t base_bytes(const spot_config *cfg) { return cfg->model.base.images ? model_bytes(cfg, SPOT_BASE_TARGETS) : 0; }

/* spot_resident_bytes of a wave whose views have `rows` rows each. */
static size_t wave_resident(const spot_config *cfg, const spot_layout *l, int rows, int wave)
{
    int all[wave];

    for (int p = 0; p < wave; p++) all[p] = rows;
    return spot_resident_bytes(cfg, l->features, wave, all);
}

/* Memory of a wave whose views have `rows` rows each. Views of another representation lie beside the classifier's. A picture
 * may need a map beside all other values. Recalling a head takes a model. */
static spot_bytes wave_needs(const spot_ctx *c, const spot_config *cfg, const spot_layout *l, int rows, int wave,
                             bool pictures)
{
    spot_bytes most = { 0, 0 }, map = { 0, 0 };
    int all[wave];

    for (int p = 0; p < wave; p++) all[p] = rows;
    for (int b = 0; b < cfg->bdms; b++) {
        const spot_bdm_config *bdm = &cfg->bdm[b], of = spot_method_picture_map(cfg, b);
        spot_bytes needs = spot_chain_method_needs(c, bdm, wave, all, l->features[b], 0);
        if (bdm->representation != SPOT_BY_MODEL) needs.host += wave * view_bytes(l->features[b], rows);
        most = spot_bytes_larger(most, needs);
        if (cfg->metric.neighbours) {
            spot_bytes graph = spot_metric_graph_needs(c, rows, l->features[b], cfg->metric.neighbours);
            most.device = graph.device > most.device ? graph.device : most.device;
            map.host = graph.host > map.host ? graph.host : map.host;       /* beside the views, as a picture's map */
        }
        if (pictures) map = spot_bytes_larger(map, spot_embed_needs(c, 1, &rows, features_of(cfg), &of.embed));
    }
    if (cfg->metric.repair)
        most.host += view_bytes(features_of(cfg), rows) + spot_metric_repair_bytes(rows, rows, features_of(cfg));
    most = spot_bytes_larger(spot_bytes_larger(most, l->encoding), (spot_bytes){ 0, map.device });
    if (c->device) most.device += wave_resident(cfg, l, rows, wave);
    most.host += map.host + (size_t)wave * view_bytes(features_of(cfg), rows) + model_bytes(cfg, 1)
               + spot_chain_bytes(wave, false) + (size_t)wave * spot_graph_bytes(cfg, rows);
    return most;
}

/* A worker that found in the store a view without its lesson has this view in the arena, too. */
static spot_status worker_needs(spot_ctx *c, spot_bytes *needs, const spot_config *cfg, const spot_source *source, int rows)
{
    SPOT_TRY(spot_model_needs(c, needs, &source->scene, &cfg->model, rows, spot_wants_robust(cfg)));
    needs->host += view_bytes(features_of(cfg), rows) + model_bytes(cfg, 1);
    if (cfg->metric.repair) needs->host += view_bytes(features_of(cfg), rows) + (size_t)rows * sizeof(int);
    return SPOT_OK;
}

/* n, at most `most`, at least 1. */
static int within(int n, int most) { return n < most ? n : most > 1 ? most : 1; }

/* ECs that a GPU trains at once: two of the paper's (width 64, 224 pixels, batch 256), so that it has work while one model is
 * written to the disk; more where a step is small, because such a step leaves most of the GPU idle, whether or not there
 * are as many threads, which are expected to wait for their GPU most of the time. How many are best was not measured. */
static int trainings_on_gpu(const spot_config *cfg, const spot_source *source)
{
    enum { PAPERS = 2, MOST = 16 };
    double step = cfg->model.width / 64.0 * (source->scene.size / 224.0) * sqrt(cfg->model.batch / 256.0);
    double n = ceil(PAPERS / step);

    return (int)fmin(n, MOST);
}

/* A wave has at most `most` ECs, and waves are nearly equally long: a short wave takes nearly as long as a full one. */
static int even_wave(int ecs, int most)
{
    int waves = (ecs + most - 1) / most;

    return waves ? (ecs + waves - 1) / waves : 1;
}

/* Whether the device's memory `left` holds a wave: its methods, and a training beside the features of all views. */
static bool wave_fits(const spot_ctx *c, const spot_config *cfg, const spot_layout *l, int rows, bool pictures, size_t left)
{
    return wave_needs(c, cfg, l, rows, l->wave, pictures).device <= left
           && l->worker.device + wave_resident(cfg, l, rows, l->wave) <= left;
}

/* Device memory for ECs: all that is free but what the base model and the pictures take. Those of a calibration lie there
 * already. */
static spot_status room_for_ecs(spot_ctx *c, size_t *left, const spot_layout *l, const spot_config *cfg,
                                const spot_source *source)
{
    size_t total, stays = base_bytes(cfg);

    SPOT_TRY(spot_device_room(c, left, &total));
    if (!source->photos || !spot_photos_are_resident(source->photos)) stays += l->photos;
    *left = *left > stays ? *left - stays : 0;
    return SPOT_OK;
}

/* Chooses wave and at_once: from o, else by the device; then lowers them until the device's memory suffices. On the CPU nearly
 * all time is training, and segments come sooner one by one. */
static spot_status choose_widths(spot_ctx *c, spot_layout *l, const spot_config *cfg, const spot_source *source,
                                 const spot_sweep_options *o, int ecs, int rows)
{
    int wide = o->wave ? o->wave : c->device ? even_wave(ecs, 32) : 1;
    int abreast = o->at_once ? o->at_once : c->device ? trainings_on_gpu(cfg, source) : 1;
    size_t left;

    l->resident = 0;
    l->wave = wide = within(wide > o->at_once ? wide : o->at_once, ecs);
    l->at_once = abreast = within(abreast, wide);
    if (!c->device) return SPOT_OK;
    SPOT_TRY(room_for_ecs(c, &left, l, cfg, source));
    while (l->wave > 1 && !wave_fits(c, cfg, l, rows, o->pictures, left)) l->wave--;
    l->resident = wave_resident(cfg, l, rows, l->wave);
    l->at_once = within(l->at_once, l->wave);
    while (l->at_once > 1 && (size_t)l->at_once * l->worker.device + l->resident > left) l->at_once--;
    if (l->wave < wide || l->at_once < abreast)
        spot_log(c, SPOT_LOG_INFO, "%s has %.1f GB of memory left: waves of %d instead of %d ECs, %d of them at once",
                 spot_device_name(c), left / 1e9, l->wave, wide, l->at_once);
    return SPOT_OK;
}

/* The encoder's share of the layout. It lies on the device, if there is one, but for a block of pictures. */
static spot_status add_encoder(spot_ctx *c, spot_layout *l, const spot_encoder *encoder, const spot_source *source, int rows)
{
    const spot_encoder_info *about;

    l->encoder = l->encoding = (spot_bytes){ 0, 0 };
    if (!encoder) return SPOT_OK;
    about = spot_encoder_about(encoder);
    *(c->device ? &l->encoder.device : &l->encoder.host) = about->bytes;
    SPOT_TRY(spot_encoder_look_needs(c, &l->encoding, about, source->scene.size, rows));
    l->encoding.host += view_bytes(about->dim, rows);
    return SPOT_OK;
}

spot_status spot_layout_of(spot_ctx *c, spot_layout *l, const spot_config *cfg, const spot_source *source,
                           const spot_encoder *encoder, const spot_sweep_options *o, int ecs, int rows)
{
    size_t base = base_bytes(cfg), workers;
    spot_bytes wave;

    for (int b = 0; b < cfg->bdms; b++) {
        l->features[b] = features_of(cfg);
        if (cfg->bdm[b].representation == SPOT_BY_CLIP && encoder) l->features[b] = spot_encoder_about(encoder)->dim;
        if (cfg->bdm[b].representation == SPOT_BY_ATTRIBUTES) l->features[b] = spot_source_items(source);
        if (cfg->bdm[b].representation == SPOT_BY_FILE)
            SPOT_TRY(spot_embedding_columns(c, &l->features[b], cfg->bdm[b].embeddings));
    }
    l->pictures = 0;
    l->photos = source->photos ? spot_photos_device_bytes(c, source->photos) : 0;
    SPOT_TRY(add_encoder(c, l, encoder, source, rows));
    SPOT_TRY(worker_needs(c, &l->worker, cfg, source, rows));
    SPOT_TRY(choose_widths(c, l, cfg, source, o, ecs, rows));
    wave = wave_needs(c, cfg, l, rows, l->wave, o->pictures);
    for (int b = 0; b < cfg->bdms && c->device && o->pictures; b++)
        l->pictures += (size_t)l->wave * ((size_t)rows * 4 * (size_t)(2 + cfg->bdm[b].top) + sizeof(spot_hypotheses) + 4096);
    l->arena = base + (wave.host > l->worker.host ? wave.host : l->worker.host);
    l->all.host = l->arena + (l->at_once > 1 ? (size_t)l->at_once * l->worker.host : 0) + l->encoder.host;
    workers = (size_t)l->at_once * l->worker.device + l->resident;
    l->all.device = l->photos + l->encoder.device + (wave.device > workers ? wave.device : workers) + (c->device ? base : 0);
    return SPOT_OK;
}

static void warn_of_precision(spot_ctx *c, const spot_config *cfg)
{
    spot_warn_of_fp32(c, cfg->model.precision, "model.precision", "six", "bf16");
    if (spot_wants_clip(cfg) && strcmp(cfg->encoder.weights, SPOT_NEUTRAL))
        spot_warn_of_fp32(c, cfg->encoder.precision, "encoder.precision", "nine", "bf16");
}

/* -- room on this machine ------------------------------------------------------------------------------------- */

#define PICTURE 150e3              /* bytes of a PNG, if none was drawn */

static double disk_of_start(const spot_config *cfg, const spot_source *source)
{
    return 2.0 * (double)base_bytes(cfg) + (source->photos ? spot_pixel_cache_bytes(source->photos) : 0);
}

/* Bytes of a wave's values that are removed later. */
static double disk_of_wave(const spot_config *cfg, const spot_layout *l, int rows, spot_kept keep)
{
    return l->wave * (spot_keep_bytes(cfg, l->features, rows, SPOT_KEEP_ALL, 0)
                      - spot_keep_bytes(cfg, l->features, rows, keep, 0));
}

/* Arenas, segments, and two copies of the value that is being written. */
static size_t memory_of(const spot_config *cfg, const spot_source *source, const spot_layout *l, int rows)
{
    size_t model = model_bytes(cfg, cfg->model.base.images ? SPOT_BASE_TARGETS : 1);
    int encoded = spot_encoded_columns(cfg, l->features), own = features_of(cfg);
    size_t view = view_bytes(encoded > own ? encoded : own, rows);
    size_t ec_run = sizeof(spot_ec_run) + (size_t)cfg->bdms * sizeof(spot_outcome);

    return l->all.host + l->pictures + 2 * (model > view ? model : view) + (size_t)l->wave * ec_run
         + (source->photos ? spot_photos_bytes(source->photos) : 0);
}

static const char *remedy(const spot_layout *l, bool device)
{
    size_t training = (size_t)l->at_once * (device ? l->worker.device : l->worker.host);

    if (device && l->photos > l->all.device / 2) return "a lower data.size or fewer data.tasks";
    if (training < (device ? l->all.device - l->photos : l->all.host - training))
        return l->wave > 1 ? "a lower --wave" : "a lower scene.per_bucket.test, or other methods";
    return l->at_once > 1 ? "a lower --at-once" : "a lower model.batch, scene.size or model.width";
}

/* Libraries and threads reserve addresses that they never use; `apart` and `thread` are the measured sizes, rounded up. */
static spot_status check_addresses(spot_ctx *c, size_t needs)
{
    const size_t apart = (size_t)128 << 20, thread = (size_t)80 << 20, left = spot_room_of_addresses();

    needs += apart + (size_t)c->threads * thread;
    if (needs <= left) return SPOT_OK;
    return spot_fail(c, SPOT_NOMEM, "{sweep.addresses} this sweep takes %.2f GB of addresses and its limit (ulimit -v) leaves "
                     "%.2f GB; a higher limit or fewer --threads would help", needs / 1e9, left / 1e9);
}

/* Segments and one wave's values must fit. If the values that stay do not fit, there is a warning. */
static spot_status check_disk(spot_ctx *c, const spot_layout *l, const spot_config *cfg, const spot_source *source,
                              const spot_sweep_options *o, int ecs, int rows)
{
    double wave = disk_of_start(cfg, source) + disk_of_wave(cfg, l, rows, SPOT_KEEP_RESULTS);
    double least = wave + ecs * spot_keep_bytes(cfg, l->features, rows, SPOT_KEEP_RESULTS, 0), left;
    double all = wave + ecs * spot_keep_bytes(cfg, l->features, rows, o->keep, o->pictures ? PICTURE : 0);
    struct statvfs disk;

    if (statvfs(o->place.out, &disk)) return SPOT_OK;                  /* then only writing can fail */
    left = (double)disk.f_bavail * (double)disk.f_frsize;
    if (least > left)
        return spot_fail(c, SPOT_IO, "{sweep.disk} %s takes at least %.2f GB, and its disk has %.2f GB left; free some space "
                         "or choose another place", o->place.out, least / 1e9, left / 1e9);
    if (all > left)
        spot_log(c, SPOT_LOG_WARN, "%d ECs leave about %.1f GB in %s, and its disk has %.1f GB left; --keep views or results "
                 "takes less", ecs, all / 1e9, o->place.out, left / 1e9);
    return SPOT_OK;
}

spot_status spot_check_room(spot_ctx *c, const spot_layout *l, const spot_config *cfg, const spot_source *source,
                            const spot_sweep_options *o, int ecs, int rows)
{
    size_t needs = memory_of(cfg, source, l, rows) - l->encoder.host, left, total;
    size_t on_device = l->all.device - l->encoder.device;                        /* the encoder is there already */
    const char *whose;

    if (c->device) {
        SPOT_TRY(spot_device_room(c, &left, &total));
        if (on_device > left)
            return spot_fail(c, SPOT_NOMEM, "{sweep.device_memory} %s %.2f GB of the memory of %s, which has %.2f of %.2f GB "
                             "left; %s would help",
                             l->photos ? "the pictures and an EC take" : "an EC takes", on_device / 1e9,
                             spot_device_name(c), left / 1e9, total / 1e9, remedy(l, true));
    }
    left = spot_room_of_memory("", &whose);
    if (needs > left)
        return spot_fail(c, SPOT_NOMEM, "{sweep.memory} this sweep takes %.2f GB of memory and %s leaves %.2f GB; %s would "
                         "help", needs / 1e9, whose, left / 1e9, remedy(l, false));
    SPOT_TRY(check_addresses(c, needs));
    warn_of_precision(c, cfg);
    return check_disk(c, l, cfg, source, o, ecs, rows);
}

/* -- the cost ------------------------------------------------------------------------------------------------- */

/* The ECs [from, to), and the rows of their smallest and largest views. */
typedef struct { int from, to, least, most; } ecs_of;

static spot_status count_images(spot_ctx *c, spot_sweep_cost *cost, ecs_of *e, const spot_config *cfg,
                                const spot_source *source)
{
    double base = (double)cfg->model.base.images * cfg->model.base.epochs;
    spot_ec ec;

    for (int i = e->from; i < e->to; i++) {
        int rows;
        SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)i));
        rows = spot_ec_positives(NULL, &ec, SPOT_TEST);
        e->most = rows > e->most ? rows : e->most;
        e->least = rows < e->least || i == e->from ? rows : e->least;
        cost->images += (double)cfg->model.epochs * (ec.images[SPOT_TRAIN] + ec.images[SPOT_VAL]) + rows;
        if (cfg->metric.repair) cost->images += rows;
        if (spot_wants_robust(cfg))
            cost->images += (double)cfg->model.robust.epochs * (ec.images[SPOT_TRAIN] * (1 + cfg->model.robust.steps)
                                                                + ec.images[SPOT_VAL]) + rows;
    }
    cost->ecs = e->to - e->from;
    if (cost->ecs) cost->images += base;
    return SPOT_OK;
}

/* A process of a shared run may take any EC, so that its waves are cut for all: the others' ECs join e. */
static spot_status join_others(spot_ctx *c, ecs_of *e, const spot_source *source, int ecs)
{
    spot_ec ec;

    for (int i = 0; i < ecs; i++) {
        int rows;
        SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)i));
        rows = spot_ec_positives(NULL, &ec, SPOT_TEST);
        e->most = rows > e->most ? rows : e->most;
    }
    return SPOT_OK;
}

static void add(spot_sweep_cost *cost, double *part, spot_spent s)
{
    cost->seconds += s.wall;
    cost->cpu_seconds += s.cpu;
    *part += s.wall;
}

static spot_status add_times(spot_ctx *c, spot_sweep_cost *cost, const spot_pace *p, const ecs_of *e, const spot_config *cfg,
                             const spot_source *source)
{
    spot_ec ec;

    add(cost, &cost->start, spot_pace_of_start(p, cfg, source));
    for (int i = e->from; i < e->to; i++) {
        int rows;
        SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)i));
        rows = spot_ec_positives(NULL, &ec, SPOT_TEST);
        add(cost, &cost->training, spot_pace_of_ec(p, cfg, &ec, rows));
        for (int b = 0; b < cfg->bdms; b++) add(cost, &cost->pictures, p->picture);
        for (int b = 0; b < cfg->bdms; b++)
            add(cost, &cost->method[b], spot_method_timing_at(&p->method[b], &cfg->bdm[b].embed, rows));
    }
    return SPOT_OK;
}

static spot_status calibrate(spot_ctx *c, spot_sweep_cost *cost, double *picture, const ecs_of *e, const spot_config *cfg,
                             const spot_source *source, spot_encoder *encoder, const spot_sweep_options *o)
{
    const spot_sweep_options one = { .wave = 1 };
    spot_spent took = { 0, 0 }, at = spot_spent_now();
    spot_layout alone;
    spot_pace pace;
    spot_ec ec;

    SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)(e->from + (e->to - e->from) / 2)));
    SPOT_TRY(spot_layout_of(c, &alone, cfg, source, encoder, &one, 1, e->most));
    SPOT_TRY(spot_pace_take(c, &pace, &(spot_pace_trial){ cfg, source, encoder, &ec, &alone, e->least, e->most, cost->images,
                                                          o->pictures }));
    spot_spend(&took, &at);
    cost->calibration = took.wall;
    spot_log(c, SPOT_LOG_INFO, "calibrated on EC %u: training %.2f ms an image; views of %d to %d rows", ec.index,
             1e3 * pace.train.wall, e->least, e->most);
    cost->seconds = cost->cpu_seconds = 0;
    if (pace.picture_bytes > 0) *picture = pace.picture_bytes;
    return add_times(c, cost, &pace, e, cfg, source);
}

/* At most the counted memory and the program's own. But libraries count scratch that they do not touch, so a calibration's
 * peak is better for training and views; memory that the calibration did not use is added to it. */
static spot_status expect_memory(spot_ctx *c, spot_sweep_cost *cost, const spot_config *cfg, const spot_source *source,
                                 const spot_encoder *encoder, const spot_layout *l, int rows, size_t before, bool timed)
{
    const spot_sweep_options one = { .wave = 1 };
    size_t counted = memory_of(cfg, source, l, rows), touched;
    spot_layout alone;

    cost->memory = before + counted;
    if (!timed) return SPOT_OK;
    SPOT_TRY(spot_layout_of(c, &alone, cfg, source, encoder, &one, 1, rows));
    touched = spot_resident_most() + counted - alone.all.host + base_bytes(cfg);
    if (touched < cost->memory) cost->memory = touched;
    return SPOT_OK;
}

/* before: resident memory without the encoder. */
static spot_status cost_of(spot_ctx *c, const spot_config *cfg, const spot_source *source, spot_encoder *encoder, size_t before,
                           const spot_sweep_options *o, spot_sweep_cost *cost, bool timed)
{
    int ecs = o->limit && o->limit < cfg->ecs ? o->limit : cfg->ecs;
    double picture = PICTURE;
    spot_layout layout;
    ecs_of e = { 0 };
    spot_ec ec;

    *cost = (spot_sweep_cost){ .seconds = NAN, .cpu_seconds = NAN };
    spot_shard_range(&e.from, &e.to, o->place.shard, o->place.shards > 0 ? o->place.shards : 1, ecs);
    SPOT_TRY(count_images(c, cost, &e, cfg, source));
    if (timed && cost->ecs) SPOT_TRY(calibrate(c, cost, &picture, &e, cfg, source, encoder, o));
    if (o->place.shared) SPOT_TRY(join_others(c, &e, source, ecs));
    SPOT_TRY(spot_layout_of(c, &layout, cfg, source, encoder, o, o->place.shared ? ecs : cost->ecs, e.most));
    SPOT_TRY(expect_memory(c, cost, cfg, source, encoder, &layout, e.most, before, timed));
    warn_of_precision(c, cfg);
    cost->device_memory = layout.all.device;
    cost->wave = layout.wave;
    cost->album = source->photos ? spot_pixel_cache_bytes(source->photos) : 0;
    cost->disk = cost->ecs ? disk_of_start(cfg, source) + disk_of_wave(cfg, &layout, e.most, o->keep) : 0;
    for (int i = e.from; i < e.to; i++) {
        SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)i));
        cost->disk += spot_keep_bytes(cfg, layout.features, spot_ec_positives(NULL, &ec, SPOT_TEST), o->keep,
                                      o->pictures ? picture : 0);
    }
    return SPOT_OK;
}

/* A config for GPUs is planned in fp32 where the CPU lacks its precision. */
static spot_status in_able_precision(spot_ctx *c, const spot_config *cfg, spot_config **able)
{
    *able = NULL;
    if (spot_conv_has(c, (spot_precision)cfg->model.precision)) return SPOT_OK;
    *able = malloc(sizeof **able);
    if (!*able) return spot_fail(c, SPOT_NOMEM, "no memory to plan a sweep");
    **able = *cfg;
    (*able)->model.precision = SPOT_FP32;
    spot_log(c, SPOT_LOG_WARN, "%s does not compute in %s: memory and time are those of fp32", spot_ctx_device_name(c),
             spot_precision_name((spot_precision)cfg->model.precision));
    return SPOT_OK;
}

spot_status spot_sweep_cost_of(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, spot_sweep_cost *cost,
                               bool calibrate)
{
    size_t before = spot_resident_most();
    spot_encoder *encoder = NULL;
    spot_config *able;
    spot_source source;
    spot_status s;

    SPOT_TRY(in_able_precision(c, cfg, &able));
    s = spot_source_open(c, &source, able ? able : cfg);
    if (!s) s = spot_sweep_encoder_open(c, &encoder, cfg);
    if (!s) s = cost_of(c, able ? able : cfg, &source, encoder, before, o, cost, calibrate);
    spot_encoder_close(c, encoder);
    spot_source_close(&source);
    free(able);
    return s;
}
