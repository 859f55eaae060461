/* cmd_discover.c - spotter discover: the blindspots of a classifier that you bring. A little over 400 lines, because two dozen
 * options are a page of table and a page of reading it. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "cli/cli.h"
#include "discover/search.h"
#include "formats/picture.h"
#include "spotter/report.h"
#include "spotter/store.h"

enum { MOST_SEEDS = 64, PATH = 1200 };

typedef struct {
    cli_machine machine;
    spot_subject_files files;
    const char *cls, *method, *config, *out;
    uint64_t seed[MOST_SEEDS];
    int seeds, top, least;
    bool report, fit, json;
    spot_report_options page;
} options;

enum { EMBEDDINGS = 'e', LABELS = 'y', PROBS = 'p', IDS = 'i', CLASS = 'c', METHOD = 'm', OUT = 'o', SEED = 's', TOP = 'n',
       JSON = 'j', LOSSES = 0x100, IMAGES, COCO, MODEL, RESIZE, CROP, CONFIG, SKIP, MEMORY, LEAST, NO_REPORT, NO_FIT,
       BUDGET, FULL, LINKS };

static const struct argp_option table[] = {
    { "embeddings", EMBEDDINGS, "E", 0, "what the classifier sees of each row: (n, d) numbers in .npy, .npz:NAME, "
      ".safetensors:NAME or .csv:e0..e511", 0 },
    { "labels",     LABELS, "Y",     0, "the true class of each row: numbers or words; (n, classes) of 0 and 1 for several at "
      "once", 0 },
    { "probs",      PROBS,  "P",     0, "the probability of each row's true class, of class 1 where there are two; or (n, "
      "classes), columns sorted by name where labels are words", 0 },
    { "losses",     LOSSES, "L",     0, "cross-entropy of each row, in place of --probs", 0 },
    { "ids",        IDS,    "I",     0, "names of the rows; those of files below --images give the pictures", 0 },
    { "images",     IMAGES, "DIR",   0, "folder of pictures; without --embeddings DIR/class/picture is looked through", 0 },
    { "coco",       COCO,   "FILE",  0, "COCO's annotations of the pictures in --images: each category is a class", 0 },
    { "model",      MODEL,  "FILE",  0, "looks at the pictures: a ResNet-18 in .safetensors with torchvision's names", 0 },
    { "resize",     RESIZE, "N",     0, "pixels of a picture's shorter side before it is cropped; 0: as it is (256)", 0 },
    { "crop",       CROP,   "N",     0, "pixels of the square in its middle (224)", 0 },
    { "skip-unreadable", SKIP, NULL, 0, "leave out pictures that cannot be read, and count them", 0 },
    { "follow-links", LINKS, NULL,   0, "--ids and --coco may name pictures that symbolic links lead to out of --images", 0 },
    { "class",      CLASS,  "NAME|N|each|all", 0, "which class; each in turn (the default); all rows at once", 0 },
    { "method",     METHOD, "M[,M]", 0, "planespot, spotlight, domino, barlow, george, multiaccuracy; with a reducer of its "
      "own: planespot-tsne (planespot)", 0 },
    { "config",     CONFIG, "FILE",  0, "methods with settings, as `bdms` of a sweep's config; and seed", 0 },
    { "seed",       SEED,   "N[,N]", 0, "of all random numbers; several: each method once for each (0)", 0 },
    { "least",      LEAST,  "N",     0, "rows that a class must have to be examined (20)", 0 },
    { "memory",     MEMORY, "SIZE",  0, "4GB, 500MB or bytes: what takes more is refused (what is free)", 0 },
    { "top",        TOP,    "N",     0, "slices that are shown (20); the files have all", 0 },
    { "budget",     BUDGET, "MB",    0, "how large report.html may be (10); pictures get smaller, then fewer, to "
      "stay within", 0 },
    { "full",       FULL,   NULL,    0, "every picture in report.html, however large it gets", 0 },
    { "no-report",  NO_REPORT, NULL, 0, "leave out report.html", 0 },
    { "no-fit",     NO_FIT, NULL,    0, "leave out fit.safetensors, which `spotter assign` needs", 0 },
    { "json",       JSON,   NULL,    0, "one final object on stdout", 0 },
    { "out",        OUT,    "DIR",   0, "folder of what is found; the same command again goes on where it was", 0 },
    { 0 }
};

static size_t memory(const struct argp_state *state, const char *text)
{
    static const struct { const char *unit; double bytes; } units[] = {
        { "", 1 }, { "B", 1 }, { "KB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { "KiB", 1024.0 }, { "MiB", 1048576.0 },
        { "GiB", 1073741824.0 }, { "K", 1e3 }, { "M", 1e6 }, { "G", 1e9 },
    };
    char *end;
    double v = strtod(text, &end);

    for (size_t i = 0; end != text && v > 0 && i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].unit) && v * units[i].bytes < 1e18) return (size_t)(v * units[i].bytes);
    argp_error(state, "--memory takes a size such as 4GB, 500MB or 2GiB, not \"%s\"", text);
    return 0;
}

static void seeds(const struct argp_state *state, options *o, const char *text)
{
    for (o->seeds = 0;; text++) {
        char *end;
        errno = 0;
        if (o->seeds == MOST_SEEDS) argp_error(state, "--seed takes at most %d seeds", MOST_SEEDS);
        o->seed[o->seeds++] = strtoull(text, &end, 10);
        if (end == text || *text == '-' || errno || (*end && *end != ','))
            argp_error(state, "--seed takes whole numbers such as 0 or 1,2,3, not \"%s\"", text);
        for (int i = 0; i + 1 < o->seeds; i++)
            if (o->seed[i] == o->seed[o->seeds - 1])
                argp_error(state, "--seed has %llu twice", (unsigned long long)o->seed[i]);
        text = end;
        if (!*text) return;
    }
}

static void check(const struct argp_state *state, const options *o)
{
    const spot_subject_files *f = &o->files;

    if (!o->out) argp_error(state, "where to? give a folder with --out DIR");
    if (strlen(o->out) > 1000) argp_error(state, "the name of the folder is longer than 1000 bytes");
    if (!f->embeddings && !f->images)
        argp_error(state, "what is examined? give --embeddings, --labels and --probs, or --images and --model");
    if (f->embeddings && !f->labels && !f->coco)
        argp_error(state, "--embeddings need the true classes of their rows: --labels");
    if (f->embeddings && !f->probs && !f->losses)
        argp_error(state, "--embeddings need what the classifier says: --probs or --losses");
    if (f->probs && f->losses) argp_error(state, "--probs and --losses say the same; give one of them");
    if (!f->embeddings && !f->model)
        argp_error(state, "--images without --embeddings need a network that looks at them: --model");
    if (f->embeddings && f->model)
        argp_error(state, "--embeddings are what --model would make of the pictures; give one of them");
    if (f->coco && !f->images) argp_error(state, "--coco describes pictures; where are they? give --images DIR");
    if (o->method && o->config) argp_error(state, "--method and --config both say which methods; give one of them");
}

static error_t option(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->machine; return 0;
    case EMBEDDINGS:    o->files.embeddings = arg; return 0;
    case LABELS:        o->files.labels = arg; return 0;
    case PROBS:         o->files.probs = arg; return 0;
    case LOSSES:        o->files.losses = arg; return 0;
    case IDS:           o->files.ids = arg; return 0;
    case IMAGES:        o->files.images = arg; return 0;
    case COCO:          o->files.coco = arg; return 0;
    case MODEL:         o->files.model = arg; return 0;
    case RESIZE:        o->files.resize = cli_number(state, "--resize", arg, 0, 16384); return 0;
    case CROP:          o->files.crop = cli_number(state, "--crop", arg, 1, 16384); return 0;
    case SKIP:          o->files.skip = true; return 0;
    case LINKS:         o->files.links = true; return 0;
    case CLASS:         o->cls = arg; return 0;
    case METHOD:        o->method = arg; return 0;
    case CONFIG:        o->config = arg; return 0;
    case SEED:          seeds(state, o, arg); return 0;
    case LEAST:         o->least = cli_number(state, "--least", arg, 1, 1000000000); return 0;
    case MEMORY:        o->files.memory = memory(state, arg); return 0;
    case TOP:           o->top = cli_number(state, "--top", arg, 0, 1000000); return 0;
    case BUDGET:        o->page.budget = 1000000 * (size_t)cli_number(state, "--budget", arg, 1, 4000); return 0;
    case FULL:          o->page.full = true; return 0;
    case NO_REPORT:     o->report = false; return 0;
    case NO_FIT:        o->fit = false; return 0;
    case JSON:          o->json = true; return 0;
    case OUT:           o->out = arg; return 0;
    case ARGP_KEY_ARG:  argp_error(state, "\"%s\" is one word too many; every input has an option of its own", arg); return 0;
    case ARGP_KEY_END:  check(state, o); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- what is asked for ---- */

/* "planespot-tsne,domino" as a config's list, so that one place judges names and combinations. */
static spot_status methods(spot_ctx *c, spot_config *cfg, const char *list)
{
    char text[2048] = "bdms:\n";
    size_t n = strlen(text);

    if (strspn(list, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-,") != strlen(list) || strlen(list) > 500)
        return spot_fail(c, SPOT_USAGE, "--method takes names such as planespot or planespot-tsne,domino");
    while (*list) {
        int word = (int)strcspn(list, ","), name = (int)strcspn(list, ",-");
        n += (size_t)snprintf(text + n, sizeof text - n, "  - {method: \"%.*s\"", name, list);
        if (name < word)
            n += (size_t)snprintf(text + n, sizeof text - n, ", reduce: \"%.*s\"", word - name - 1, list + name + 1);
        n += (size_t)snprintf(text + n, sizeof text - n, "}\n");
        list += word + (list[word] == ',');
    }
    return spot_config_parse(c, cfg, text, n, "--method");
}

/* The class that --class names; a name of a class goes before its number. */
static spot_status choose(spot_ctx *c, int *cls, const char *text, const spot_subject *s)
{
    char *end;
    long v;

    *cls = SPOT_EACH_CLASS;
    if (!text || !strcmp(text, "each")) return SPOT_OK;
    *cls = SPOT_ALL_CLASSES;
    if (!strcmp(text, "all")) return SPOT_OK;
    for (*cls = 0; *cls < s->classes; ++*cls)
        if (!strcmp(s->class_name[*cls], text)) return SPOT_OK;
    errno = 0;
    v = strtol(text, &end, 10);
    if (!errno && *text && !*end && v >= 0 && v < s->classes) {
        *cls = (int)v;
        return SPOT_OK;
    }
    return spot_fail(c, SPOT_USAGE, "there is no class \"%s\"; there are %d of them, the first is \"%s\" and the last \"%s\"",
                     text, s->classes, s->class_name[0], s->class_name[s->classes - 1]);
}

/* A folder that holds something else is left alone. */
static spot_status is_ours(spot_ctx *c, const char *dir)
{
    static const char *const made[] = { "segments", "results.sqlite" };
    char path[PATH];
    struct stat st;

    if (stat(dir, &st)) return SPOT_OK;
    if (!S_ISDIR(st.st_mode)) return spot_fail(c, SPOT_IO, "--out %s is a file; choose another name", dir);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, made[i]);
        if (!stat(path, &st))
            return spot_fail(c, SPOT_USAGE, "--out %s holds a sweep's run, which is left as it is; choose another folder", dir);
    }
    return SPOT_OK;
}

/* ---- what is said ---- */

typedef struct { const spot_finding *f; int k; } line;

/* Errors times error rate, which all methods' slices have in common. */
static double weight(const line *l)
{
    const spot_slice *s = &l->f->slice[l->k];

    return s->wrong * s->error_rate;
}

static int heavier_first(const void *a, const void *b)
{
    double x = weight(a), y = weight(b);
    const line *l = a, *m = b;

    if (x != y) return x < y ? 1 : -1;
    return l->f != m->f ? (l->f < m->f ? -1 : 1) : l->k - m->k;
}

static void print_name(const char *text, int width)
{
    int n = 0;

    for (; *text && n < width; text++) {
        if (((unsigned char)*text & 0xc0) != 0x80) n++;
        putchar((unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
    }
    while (((unsigned char)*text & 0xc0) == 0x80) putchar(*text++);
    printf("%*s", width - n, "");
}

static spot_status print_table(spot_ctx *c, const spot_findings *f, const spot_subject *s, const spot_discover_options *d,
                               int top)
{
    line *all = malloc(((size_t)f->count * SPOT_MAX_HYPOTHESES + 1) * sizeof *all);
    int n = 0;

    if (!all) return spot_fail(c, SPOT_NOMEM, "no memory for the table");
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) all[n++] = (line){ &f->finding[i], k };
    qsort(all, (size_t)n, sizeof *all, heavier_first);
    printf("rank  class                 method                   seed    size  errors  rate  share  score\n");
    for (int i = 0; i < n && i < top; i++) {
        const spot_finding *g = all[i].f;
        const spot_slice *p = &g->slice[all[i].k];
        char name[80];
        printf("%4d  ", i + 1);
        print_name(g->cls < 0 ? "(all)" : s->class_name[g->cls], 20);
        printf("  ");
        print_name(spot_bdm_name(&d->bdm[g->bdm], name, sizeof name), 20);
        printf("  %7llu  %6d  %6d  %3.0f %%  %3.0f %%  %.4g\n", (unsigned long long)g->seed, p->size, p->wrong,
               100 * p->error_rate, 100 * p->share, p->score);
    }
    if (n > top) printf("and %d more\n", n - top);
    if (!n) printf("no slices\n");
    free(all);
    return SPOT_OK;
}

static void print_left_out(const spot_findings *f, const spot_subject *s, const spot_discover_options *d)
{
    enum { NAMED = 5 };
    int few = 0;

    if (!f->left_out) return;
    for (int i = 0; i < f->left_out; i++) few += spot_subject_rows(s, f->left_class[i]) < d->least;
    printf("left out: %d with fewer than %d rows, %d without a wrong one (", few, d->least, f->left_out - few);
    for (int i = 0; i < f->left_out && i < NAMED; i++) {
        if (i) printf(", ");
        print_name(s->class_name[f->left_class[i]], 0);
        fputs(s->class_name[f->left_class[i]], stdout);
    }
    printf("%s)\n", f->left_out > NAMED ? ", ...; slices.json names all" : "");
}

static spot_status print_json(spot_ctx *c, spot_status s, const options *o, const spot_findings *f, const spot_subject *subject,
                              spot_bytes cost, double seconds)
{
    spot_json j;
    int schema = 1, failed = 0, slices = 0, rows = subject->n;
    uint64_t bytes = cost.host;
    char status[32], dir[1024];

    SPOT_TRY(spot_json_open(c, &j));
    for (int i = 0; i < f->count; i++) {
        failed += f->finding[i].status != SPOT_OK;
        slices += f->finding[i].slices;
    }
    snprintf(status, sizeof status, "%s", spot_status_name(s));
    snprintf(dir, sizeof dir, "%s", o->out);
    spot_json_int(&j, "schema", &schema);
    spot_json_text(&j, "status", status, sizeof status);
    spot_json_text(&j, "out", dir, sizeof dir);
    spot_json_int(&j, "rows", &rows);
    spot_json_int(&j, "skipped", &(int){ subject->skipped });
    spot_json_int(&j, "findings", &(int){ f->count });
    spot_json_int(&j, "failed", &failed);
    spot_json_int(&j, "left_out", &(int){ f->left_out });
    spot_json_int(&j, "slices", &slices);
    spot_json_u64(&j, "memory_bytes", &bytes);
    spot_json_real(&j, "seconds", &seconds);
    spot_json_print(&j, stdout);
    return s;
}

/* Bytes that decoding the report's pictures may take beside the rows. */
static size_t report_memory(const options *o, const spot_subject *s)
{
    size_t rows = spot_subject_bytes(s);

    return !o->files.memory ? SPOT_PICTURE_MEMORY : o->files.memory > rows ? o->files.memory - rows : 1;
}

static spot_status announce(spot_ctx *c, const options *o, const spot_subject *s, const spot_discover_options *d,
                            spot_bytes *cost)
{
    char time[32], memory[32], device[64] = "";
    double seconds;
    spot_status how = spot_discover_cost(c, s, d, cost, &seconds);

    spot_log(c, SPOT_LOG_INFO, "%s", s->source);
    if (how) return how;
    if (cost->device) snprintf(device, sizeof device, ", %s of the device's",
                               cli_memory(memory, (double)cost->device));
    cli_memory(memory, (double)cost->host);
    if (isfinite(seconds))
        spot_log(c, SPOT_LOG_INFO, "this takes about %s and at most %s of memory%s", cli_duration(time, seconds), memory,
                 device);
    else spot_log(c, SPOT_LOG_INFO, "this takes at most %s of memory%s", memory, device);
    if (o->report && s->image)
        spot_log(c, SPOT_LOG_INFO, "decoding the pictures of report.html then takes at most %s of memory beside the rows",
                 cli_memory(memory, (double)report_memory(o, s)));
    return SPOT_OK;
}

static spot_status report(spot_ctx *c, const options *o, const spot_findings *f, const spot_subject *s,
                          const spot_discover_options *d)
{
    spot_report_options page = o->page;
    char path[PATH];

    page.memory = report_memory(o, s);
    snprintf(path, sizeof path, "%s/report.html", o->out);
    return spot_report_findings(c, path, 1, &s, &f, &d, &page);
}

static spot_status discover(spot_ctx *c, const options *o, spot_config *cfg, const spot_subject *s)
{
    spot_discover_options d = spot_discover_defaults();
    double start = spot_clock();
    spot_bytes cost = { 0, 0 };
    spot_findings f = { 0 };
    spot_status how;

    SPOT_TRY(choose(c, &d.cls, o->cls, s));
    d.bdm = cfg->bdm;
    d.bdms = cfg->bdms;
    d.seed = o->seeds ? o->seed : &cfg->seed;
    d.seeds = o->seeds ? o->seeds : 1;
    if (o->least) d.least = o->least;
    d.memory = o->files.memory;
    d.cache = o->out;
    d.fit = o->fit;
    how = announce(c, o, s, &d, &cost);
    if (how == SPOT_OK) how = spot_discover(c, &f, s, &d);
    if (how == SPOT_OK) how = spot_findings_write(c, o->out, &f, s, &d);
    if (how == SPOT_OK && o->report) how = report(c, o, &f, s, &d);
    cli_log_close();
    if (o->json) how = print_json(c, how, o, &f, s, cost, spot_clock() - start);
    else if (how == SPOT_OK) {
        how = print_table(c, &f, s, &d, o->top);
        print_left_out(&f, s, &d);
        printf("in %s: slices.csv, slices.json, map.npy, config.yaml%s%s\n", o->out,
               o->fit ? ", fit.safetensors" : "", o->report ? ", report.html" : "");
    }
    spot_findings_close(&f);
    return how;
}

static spot_status run(spot_ctx *c, const options *o, spot_config *cfg)
{
    spot_subject s;
    spot_status how;

    *cfg = spot_config_defaults();
    cfg->seed = 0;
    if (o->config) SPOT_TRY(spot_config_load(c, cfg, o->config));
    if (o->method) {
        SPOT_TRY(methods(c, cfg, o->method));
        cfg->seed = 0;
    }
    SPOT_TRY(is_ours(c, o->out));
    SPOT_TRY(spot_subject_read(c, &s, &o->files));
    how = discover(c, o, cfg, &s);
    spot_subject_close(&s);
    return how;
}

int cli_discover(int argc, char **argv)
{
    static const struct argp_child children[] = { { &cli_machine_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = { table, option, "--embeddings E --labels Y --probs P --out DIR",
        "Finds the groups of rows on which your classifier fails: slices.csv, slices.json, a map, and a report to look at."
        "\n\nExamples:\n"
        "  spotter discover --embeddings e.npy --labels y.npy --probs p.npy --out found\n"
        "  spotter discover --embeddings run.npz:e --labels run.npz:y --probs run.npz:p --class cat \\\n"
        "      --ids run.npz:path --images photos --method planespot-tsne,domino --out found\n"
        "  spotter discover --images photos --model resnet18.safetensors --out found\n"
        "  spotter discover --images val2017 --coco val2017.json --model resnet18.safetensors --out found\n"
        "The same command again goes on where it was stopped. In slices.csv a text that a spreadsheet would run as a formula "
        "has ' before it.", children, NULL, NULL };
    options o = { .top = 20, .report = true, .fit = true, .page = spot_report_defaults(),
                  .files = { .resize = 256, .crop = 224 } };
    static spot_config cfg;
    spot_ctx c;
    spot_status s;

    cli_parse(&argp, argc, argv, &o);
    s = cli_open(&c, &o.machine);
    if (s == SPOT_OK) {
        cli_say_device(&c, &o.machine);
        s = run(&c, &o, &cfg);
    }
    return cli_close(&c, s);
}
