/* cmd_discover.c - spotter discover: the blindspots of the user's classifier. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/room.h"
#include "bdm/methods.h"
#include "cli/detector_rows.h"
#include "cli/encoder_rows.h"
#include "cli/method_list.h"
#include "cli/model_rows.h"
#include "cli/slice_table.h"
#include "cli/slice_words.h"
#include "cli/study_command.h"
#include "discover/describe/describe_files.h"
#include "discover/search/discover_config.h"
#include "discover/search/discover_run.h"
#include "discover/search/search.h"
#include "formats/picture.h"
#include "spotter/report.h"
#include "store/store.h"
#include "study/kept_encoder.h"

enum { MOST_SEEDS = 64, PATH = 1200 };

typedef struct {
    cli_study_flags study;
    spot_subject_files files;
    cli_encoder encoder;
    spot_kept_encoder kept;            /* answers of --embed, a program */
    cli_detector detector;
    spot_describe_files describe;
    const char *predict, *rows, *cls, *method, *merges, *model_name[CLI_PAGE_MODELS];
    uint64_t seed[MOST_SEEDS];
    int seeds, top, least, chance, size;
    double holdout, level;
    bool report, fit, proof, replace;
    int fail_on;
    cli_ci ci;
    spot_report_options page;
} discover_flags, cli_flags;

static void read_memory(const struct argp_state *state, const char *text, void *input)
{
    discover_flags *o = input;
    static const struct { const char *unit; double bytes; } units[] = {
        { "", 1 }, { "B", 1 }, { "KB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { "KiB", 1024.0 }, { "MiB", 1048576.0 },
        { "GiB", 1073741824.0 }, { "K", 1e3 }, { "M", 1e6 }, { "G", 1e9 },
    };
    char *end;
    double v = strtod(text, &end);

    for (size_t i = 0; end != text && v > 0 && i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].unit) && v * units[i].bytes < 1e18) {
            o->files.memory = (size_t)(v * units[i].bytes);
            return;
        }
    argp_error(state, "--memory takes a size such as 4GB, 500MB or 2GiB, not \"%s\"", text);
}

static void read_seeds(const struct argp_state *state, const char *text, void *input)
{
    discover_flags *o = input;

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

#define X(NAME, name) #name ", "
#define METHOD_NAMES SPOT_BDM_METHODS(X)

static const cli_row table[] = {
    { .word = "ROWS.yaml", .kind = CLI_ROWS_FILE, CLI_AT(rows), .from = &cli_discover_command },
    { .kind = CLI_HEADING, .help = "Rows, and what your classifier says of them:" },
    { "embeddings", 'e', "E",     CLI_TEXT, CLI_AT(files.embeddings), .flags = CLI_ROWS_PATH | CLI_LINES,
      .help = "features of each row from the classifier: (n, d) numbers in .npy, .npz:NAME, .safetensors:NAME or "
              ".csv:e0..e511; given again, features of another source, joined behind them with equal weight" },
    { "labels",     'y', "Y",     CLI_TEXT, CLI_AT(files.labels), .flags = CLI_ROWS_PATH,
      .help = "true class of each row: numbers or words; or (n, classes): one-hot, or several classes per row" },
    { "probs",      'p', "P",     CLI_TEXT, CLI_AT(files.probs), .flags = CLI_ROWS_PATH,
      .help = "probability of each row's true class, or of class 1 of two; or (n, classes): columns of a .csv called as the "
              "classes, or in the order of class numbers or sorted words" },
    { "losses",     0,   "L",     CLI_TEXT, CLI_AT(files.losses), .flags = CLI_ROWS_PATH | CLI_MORE,
      .help = "cross-entropy of each row, instead of --probs" },
    { "ids",        'i', "I",     CLI_TEXT, CLI_AT(files.ids), .otherwise = "row numbers", .flags = CLI_ROWS_PATH,
      .help = "names of the rows; names of files below --images show the pictures" },
    { "groups",     0,   "G|rows", CLI_TEXT, CLI_AT(files.groups), .otherwise = "each row alone; a detector's by picture",
      .flags = CLI_ROWS_PATH, .help = "video, patient or other group of each row: rows with an equal word or number depend on "
                                      "each other and stay together; rows: each row is alone" },
    { "images",     0,   "DIR",   CLI_TEXT, CLI_AT(files.images), .flags = CLI_ROWS_PATH,
      .help = "folder of pictures; without --embeddings, DIR/class/picture are the rows" },
    { "model",      0,   "FILE",  CLI_TEXT, CLI_AT(files.model), .flags = CLI_ROWS_MODEL,
      .help = "classifier for the pictures: ResNet of any depth, AlexNet (torchvision's names) or ViT (timm's) in .safetensors"
              CLI_OTHER_MODELS },
    CLI_PREDICT_ROW(0, predict, CLI_MORE),
    { "coco",       0,   "FILE",  CLI_TEXT, CLI_AT(files.coco), .flags = CLI_ROWS_PATH | CLI_MORE,
      .help = "COCO annotations of the pictures in --images; each category is a class" },
    { "embed",      0,   "FILE|neutral", CLI_TEXT, CLI_AT(files.embed), .flags = CLI_ROWS_MODEL | CLI_MORE,
      .help = "encoder for the pictures: CLIP, ViT, ResNet or AlexNet in .safetensors, or neutral, which needs no file; its "
              "features join those of --embeddings, or are alone: with --labels, --probs and --ids, or with --model" },
    { "resize",     0,   "N",     CLI_INT, CLI_AT(files.resize), 0, 16384, .preset = "256", .flags = CLI_ROWS | CLI_MORE,
      .help = "pixels of a picture's shorter side before the crop; 0: as it is" },
    { "crop",       0,   "N",     CLI_INT, CLI_AT(files.crop), 1, 16384, .preset = "224", .flags = CLI_ROWS | CLI_MORE,
      .help = "pixels of the square in the middle of a picture" },
    CLI_SIZE_ROW(size, CLI_ROWS | CLI_MORE),
    CLI_SQUARE_ROWS("", files.input, "", CLI_ROWS | CLI_MORE),
    CLI_INPUT_ROWS("", files.input, "", CLI_ROWS | CLI_MORE),
    CLI_INPUT_ROWS("embed-", encoder.o.input, "; of --embed", CLI_ROWS | CLI_MORE),
    CLI_SQUARE_ROWS("embed-", encoder.o.input, "; of --embed", CLI_ROWS | CLI_MORE),
    CLI_READING_ROWS(files.reading, CLI_ROWS | CLI_MORE),
    { "skip-unreadable", 0, NULL, CLI_ON, CLI_AT(files.skip), .flags = CLI_ROWS | CLI_MORE,
      .help = "pictures that cannot be read are left out and counted" },
    { "skip-bad-rows", 0, NULL,   CLI_ON, CLI_AT(files.skip_bad), .flags = CLI_ROWS | CLI_MORE,
      .help = "rows that no method can use (NaN, no label, a feature beyond 1e12) are left out and counted; the others keep "
              "the numbers of the file" },
    { "logits",     0,   NULL,    CLI_ON, CLI_AT(files.logits), .flags = CLI_ROWS | CLI_MORE,
      .help = "--probs has scores before the softmax, of which probabilities are made" },
    { "follow-links", 0, NULL,    CLI_ON, CLI_AT(files.links), .flags = CLI_ROWS | CLI_MORE,
      .help = "pictures that --ids or --coco name may lie outside --images, behind symbolic links" },
    { "memory",     0,   "SIZE",  CLI_CALL, .read = read_memory, .otherwise = "free memory", .flags = CLI_MORE,
      .help = "limit such as 4GB, 500MB or bytes; a task that needs more is refused" },
    { .kind = CLI_HEADING, .help = "Search:" },
    { "class",      'c', "NAME|N|each|all|both", CLI_TEXT, CLI_AT(cls), .otherwise = "both",
      .help = "one class; each class by itself; all rows at once; or each class and all rows, in one family of tests" },
    { "method",     'm', "M[,M]", CLI_TEXT, CLI_AT(method), .otherwise = CLI_METHODS ", and rules of --attributes by itemsets",
      .help = "methods: " METHOD_NAMES "or a method with its reducer, such as planespot-tsne" },
    { "config",     0,   "FILE",  CLI_TEXT, CLI_AT(study.config), .flags = CLI_MORE,
      .help = "methods with settings and a seed, from a sweep's config" },
    { "seed",       's', "N[,N]", CLI_CALL, .read = read_seeds, .otherwise = "0", .flags = CLI_MORE,
      .help = "seed of all random numbers; with several, each method runs once per seed" },
    { "least",      0,   "N",     CLI_INT, CLI_AT(least), 1, 1000000000, .flags = CLI_SHOWN | CLI_MORE,
      .help = "rows that a class must have to be examined" },
    { .kind = CLI_HEADING, .help = "Proof:" },
    { "chance",     0,   "N",     CLI_INT, CLI_AT(chance), 0, 100000, .flags = CLI_SHOWN | CLI_MORE,
      .help = "shuffles of the errors that are searched, too: 19 or more, each as long as a search; a slice that beats all of "
              "them, and that the test does not confirm, is reported as suggested" },
    { "no-proof",   0,   NULL,    CLI_OFF, CLI_AT(proof), .help = "no test: slices of all rows, without a p" },
    { "holdout",    0,   "SHARE", CLI_REAL, CLI_AT(holdout), 0, 0.95, .otherwise = "two halves, each judges the other's slices",
      .flags = CLI_MORE, .help = "share of each class's rows that only judge; slices are found on the others" },
    { "level",      0,   "P",     CLI_REAL, CLI_AT(level), 1e-6, 0.5, .flags = CLI_SHOWN | CLI_MORE,
      .help = "significance level: the chance that any slice is confirmed where errors are random" },
    { "fail-on",    0,   "nothing|confirmed|suggested", CLI_CHOICE, CLI_AT(fail_on), .preset = "nothing",
      .help = "claim of a slice with which the exit code is 1; suggested: confirmed ones, too" },
    { .kind = CLI_HEADING, .help = "Words for the slices:" },
    { "attributes", 0,   "FILE",  CLI_TEXT, CLI_AT(describe.attributes), .flags = CLI_ROWS_PATH,
      .help = "table.csv with a record for each row, or table.csv:COLUMN with their ids; each slice is described by at "
              "most three of its columns, and rules of two are searched for" },
    { "no-picture-attributes", 0, NULL, CLI_OFF, CLI_AT(describe.pictures), .flags = CLI_MORE,
      .help = "without attributes of the pictures themselves, for which each is decoded: brightness, contrast, colourfulness, "
              "sharpness, entropy, aspect, pixels, transparency" },
    { "words",      'w', "FILE",  CLI_TEXT, CLI_AT(describe.words), .flags = CLI_ROWS_PATH | CLI_MORE,
      .help = "phrases, one a line, of which the nearest ones describe each slice" },
    { "describe",   0,   "FILE",  CLI_TEXT, CLI_AT(describe.encoder), .otherwise = "that of --embed",
      .flags = CLI_ROWS_PATH | CLI_MORE,
      .help = "CLIP in .safetensors that compares the phrases of --words with the pictures" },
    { "word-embeddings", 0, "W",  CLI_TEXT, CLI_AT(describe.word_embeddings), .flags = CLI_ROWS_PATH | CLI_MORE,
      .help = "features of the phrases (phrases, d) by the encoder of --embeddings, in place of --describe" },
    { "phrases",    0,   "N",     CLI_INT, CLI_AT(describe.phrases), 1, 100, .preset = "5", .flags = CLI_MORE,
      .help = "phrases of each slice" },
    { .kind = CLI_HEADING, .help = "Results:" },
    { "out",        'o', "DIR",   CLI_TEXT, CLI_AT(study.place.out), .most = 1000, .need = "found",
      .help = "folder for the findings; the same command continues it" },
    { "top",        'n', "N",     CLI_INT, CLI_AT(top), 0, 1000000, .preset = "20",
      .help = "number of causes and single slices in the printed list, at most three of them such as may be chance; the files "
              "have all slices" },
    { "json",       'j', NULL,    CLI_ON,  CLI_AT(study.json), .flags = CLI_MORE,
      .help = "one JSON object on stdout at the end" },
    { "replace",    0,   NULL,    CLI_ON,  CLI_AT(replace), .flags = CLI_MORE,
      .help = "overwriting of findings of other data, and of other files with the names of the results, in DIR" },
    { "no-report",  0,   NULL,    CLI_OFF, CLI_AT(report), .flags = CLI_MORE, .help = "no report.html" },
    { "no-fit",     0,   NULL,    CLI_OFF, CLI_AT(fit), .flags = CLI_MORE,
      .help = "no fit.safetensors, which `spotter assign` needs" },
    { "merges",     0,   "FILE",  CLI_TEXT, CLI_AT(merges), .flags = CLI_MORE,
      .help = "file.csv for every merge of Ward's tree of each class, with the rows, errors and single p of each cluster" },
    CLI_CI_ROWS(ci, CLI_MORE),
    { .kind = CLI_HEADING, .help = "A run in parts:", .flags = CLI_MORE },
    CLI_RUN_ROWS(0, "the classes"),
    { .kind = CLI_HEADING, .help = "The page of findings:", .flags = CLI_MORE },
    CLI_PAGE_ROWS(page),
    CLI_DETECTOR_ROWS(detector),
    CLI_ENCODER_ROWS("embed-", encoder),
    CLI_ENCODER_TEXT_ROWS("describe-", encoder),
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};
#undef X

static void check_classifier(const struct argp_state *state, const spot_subject_files *f)
{
    if (!f->embeddings && !f->images)
        argp_error(state, "no input; give --embeddings, --labels and --probs, or --images and --model");
    if (f->embeddings && !f->labels && !f->coco)
        argp_error(state, "--embeddings need the true classes of their rows: --labels");
    if (f->embeddings && !f->probs && !f->losses)
        argp_error(state, "--embeddings need the classifier's answers: --probs or --losses");
    if (f->probs && f->losses) argp_error(state, "--probs and --losses mean the same; give one of them");
    if (f->embed && !f->images) argp_error(state, "--embed looks at pictures; give their folder with --images DIR");
    if (f->embed && !f->model && !f->embeddings && (!f->labels || !f->ids || (!f->probs && !f->losses)))
        argp_error(state, "--embed gives features; what is wrong has to be told by --labels, --probs and --ids, or by a "
                   "classifier: --model");
    if (!f->embeddings && !f->embed && !f->model)
        argp_error(state, "--images without --embeddings need a classifier: --model");
    if (f->embeddings && f->model)
        argp_error(state, "--model makes embeddings from pictures, but --embeddings are given; give one of them");
    if (f->coco && !f->images) argp_error(state, "--coco annotates pictures; give their folder with --images DIR");
}

/* --resize, --crop and --size hold for --model, and without one for --embed. */
static void check_input(const struct argp_state *state, discover_flags *o)
{
    spot_picture_input *of = &o->encoder.o.input;

    cli_input_check(state, &o->files.input, o->files.model);
    cli_numbers_check(state, of);
    of->resizes = o->files.input.resizes && !o->files.model;
    of->crops = o->files.input.crops && !o->files.model;
    if (!o->files.embed && (of->mean || of->std || of->scale || of->interpolation))
        argp_error(state, "--embed-mean, --embed-std, --embed-scale and --embed-interpolation are of --embed, which is "
                   "missing");
}

static void check_options(const struct argp_state *state, void *input)
{
    static const char *const of_proof[] = { "chance", "holdout", "level" };
    discover_flags *o = input;
    const spot_subject_files *f = &o->files;

    o->files.model = cli_model_text(state, f->model, o->predict);
    if (!cli_detector_check(state, &o->detector, f)) check_classifier(state, f);
    cli_square_check(state, o->size, &o->files.resize, &o->files.crop, &o->files.input);
    check_input(state, o);
    if (o->describe.words && !o->describe.encoder && !o->describe.word_embeddings && !f->embed)
        argp_error(state, "--words need an encoder: --describe clip.safetensors, or their features: --word-embeddings");
    if (o->describe.encoder && o->describe.word_embeddings)
        argp_error(state, "--describe and --word-embeddings both give the features of the words; give one of them");
    if (!o->describe.words && (o->describe.encoder || o->describe.word_embeddings))
        argp_error(state, "%s needs the phrases: --words FILE, one a line",
                   o->describe.encoder ? "--describe" : "--word-embeddings");
    for (size_t i = 0; !o->proof && i < sizeof of_proof / sizeof *of_proof; i++)
        if (cli_is_given(state, of_proof[i]))
            argp_error(state, "--%s is a part of the proof, and --no-proof leaves it out", of_proof[i]);
    if (!o->proof && o->fail_on)
        argp_error(state, "--fail-on is a part of the proof, and --no-proof leaves it out");
    if (o->chance && o->chance < 19) argp_error(state, "--chance takes 19 searches and more, or 0, not %d", o->chance);
    if (o->fail_on == CLI_FAIL_ON_SUGGESTED && !o->chance)
        argp_error(state, "without --chance no slice is suggested; --fail-on suggested needs it");
    if (o->method && o->study.config) argp_error(state, "--method and --config both choose the methods; give one of them");
    cli_ci_check(state, &o->ci);
    cli_study_check(state, o);
}

/* ---- folder ---- */

/* Refuses a folder with other contents, and a result that would overwrite an input. */
static spot_status check_folder(spot_ctx *c, const discover_flags *o)
{
    static const char *const made[] = { "segments", "results.sqlite" };
    const spot_subject_files words = { .embeddings = o->describe.word_embeddings, .labels = o->describe.words,
                                       .ids = o->describe.attributes, .model = o->describe.encoder };
    const char *dir = o->study.place.out;
    const spot_study *study;
    char path[PATH];
    struct stat st;

    if (o->merges && (cli_is_input(&o->files, o->merges) || cli_is_input(&words, o->merges)))
        return spot_fail(c, SPOT_USAGE, "--merges %s would be read and written over; choose another name", o->merges);
    if (o->merges) SPOT_TRY(spot_tree_merges_place(c, o->merges));
    if (stat(dir, &st)) return SPOT_OK;
    if (!S_ISDIR(st.st_mode)) return spot_fail(c, SPOT_IO, "--out %s is a file; choose another name", dir);
    for (const char *const *name = spot_findings_files; *name; name++) {
        snprintf(path, sizeof path, "%s/%s", dir, *name);
        if (cli_is_input(&o->files, path) || cli_is_input(&words, path))
            return spot_fail(c, SPOT_USAGE, "%s would be read and written over; choose another folder", path);
    }
    if (cli_study_of(c, &study, dir)) spot_forget(c), study = NULL;
    for (size_t i = 0; study != &spot_discover_study && i < sizeof made / sizeof *made; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, made[i]);
        if (!stat(path, &st))
            return spot_fail(c, SPOT_USAGE, "--out %s holds a sweep's run, which is left as it is; choose another folder", dir);
    }
    return o->replace ? SPOT_OK : spot_findings_check(c, dir, NULL);
}

/* ---- output ---- */

/* Further numbers that are printed at the end. */
typedef struct { spot_bytes cost; spot_run_report run; double since; } outcome;

static spot_status end_run(spot_ctx *c, spot_status s, const discover_flags *o, const spot_findings *f,
                           const spot_subject *subject, const outcome *e)
{
    const spot_run_report run = { e->run.planned, e->run.already, e->run.done, spot_clock() - e->since };
    int failed = 0, slices = 0;

    for (int i = 0; i < f->count; i++) {
        failed += f->finding[i].status != SPOT_OK;
        slices += f->finding[i].slices;
    }
    return cli_study_end(c, s, &o->study, &run, CLI_COUNTS({ "rows", subject->n }, { "skipped", subject->skipped },
                         { "rows_left_out", subject->left_out }, { "findings", f->count }, { "failed", failed },
                         { "left_out", f->left_out }, { "slices", slices }, { "memory_bytes", (double)e->cost.host }));
}

/* Largest number of bytes for decoding pictures of the words and of the report, beside the rows. */
static size_t picture_memory(const discover_flags *o, const spot_subject *s)
{
    size_t rows = spot_subject_bytes(s);

    return !o->files.memory ? SPOT_PICTURE_MEMORY : o->files.memory > rows ? o->files.memory - rows : 1;
}

/* Bytes that the process has beside the rows; the cost of the search counts those. */
static size_t bytes_beside(const spot_subject *s)
{
    const size_t now = spot_resident_now(), rows = spot_subject_bytes(s);

    return now > rows ? now - rows : now;
}

/* Measured: code of maps, tables and pages that is not yet read, with what it holds, after the memory of the search is free. */
#define PAGES ((size_t)5 << 20)

static spot_status log_cost(spot_ctx *c, const discover_flags *o, const spot_subject *s, const spot_discover_options *d,
                            const spot_describer *describer, spot_bytes *cost)
{
    const char *what = !s->image ? NULL : o->report && describer->encoder ? "the words and of report.html"
                     : describer->encoder ? "the words" : o->report ? "report.html" : NULL;
    char span[32], time[48], memory[32], device[64] = "";
    size_t merges = 0;
    double seconds;
    spot_status how;

    c->on_progress = NULL;     /* the timed iterations are not part of the search */
    how = spot_discover_run_cost(c, s, d, cost, &seconds);
    if (how == SPOT_OK && o->merges) how = spot_discover_merges_cost(c, s, d, &merges);
    if (how == SPOT_OK) how = spot_describer_cost(c, describer, s, d, cost, &seconds);
    if (cost->host < merges) cost->host = merges;
    if (cost->host < PAGES + spot_subject_bytes(s)) cost->host = PAGES + spot_subject_bytes(s);
    c->on_progress = cli_on_progress;
    cli_progress_reset();
    spot_log(c, SPOT_LOG_INFO, "%s", s->source);
    if (how) return how;
    cost->host = cli_study_states(cost->host + bytes_beside(s));
    if (cost->device) snprintf(device, sizeof device, ", %s of the device's",
                               cli_memory(memory, (double)cost->device));
    cli_memory(memory, (double)cost->host);
    if (seconds < 1) snprintf(time, sizeof time, "less than a second");
    else if (seconds < 9.95) snprintf(time, sizeof time, "about %.1f s", seconds);
    else if (isfinite(seconds)) snprintf(time, sizeof time, "about %s", cli_duration(span, seconds));
    if (isfinite(seconds))
        spot_log(c, SPOT_LOG_INFO, "this takes %s and at most %s of memory%s", time, memory,
                 device);
    else spot_log(c, SPOT_LOG_INFO, "this takes at most %s of memory%s", memory, device);
    if (o->files.memory && cost->host > o->files.memory) {
        char limit[32];
        return spot_fail(c, SPOT_NOMEM, "{discover.limit} this takes at most %s of memory, and --memory allows %s; give more, "
                         "or choose another method or reducer", memory, cli_memory(limit, (double)o->files.memory));
    }
    if (what)
        spot_log(c, SPOT_LOG_INFO, "decoding the pictures of %s then takes at most %s of memory beside the rows", what,
                 cli_memory(memory, (double)picture_memory(o, s)));
    return SPOT_OK;
}

static spot_status write_report(spot_ctx *c, const discover_flags *o, const spot_findings *f, const spot_subject *s,
                          const spot_discover_options *d)
{
    spot_report_options page = o->page;
    char path[PATH];

    cli_progress_reset();
    page.memory = picture_memory(o, s);
    page.model = o->model_name;
    snprintf(path, sizeof path, "%s/report.html", o->study.place.out);
    return spot_report_findings(c, path, 1, &s, &f, &d, &page);
}

static spot_status write_merges(spot_ctx *c, const discover_flags *o, const spot_subject *s, const spot_discover_options *d)
{
    spot_tree_merges m;
    spot_status how;

    if (!o->merges) return SPOT_OK;
    how = spot_discover_merges(c, &m, s, d);
    if (how == SPOT_OK) how = spot_tree_merges_write(c, o->merges, &m, s);
    spot_tree_merges_close(&m);
    return how;
}

/* Answers of programs whose features these are, so that new features are compared with the findings'. */
static spot_status keep_programs(spot_ctx *c, discover_flags *o, const spot_subject *s)
{
    const char *line = o->files.embeddings;
    char folder[PATH];

    for (int b = 0; line && (!b || b < s->blocks); b++) {
        spot_kept_folder(folder, sizeof folder, line);
        SPOT_TRY(spot_kept_copy_one(c, o->study.place.out, folder, s->blocks ? s->block[b].encoder : s->encoder));
        line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    }
    return spot_kept_encoder_save(c, &o->kept);
}

static spot_status find_slices(spot_ctx *c, discover_flags *o, spot_findings *f, const spot_subject *s,
                               spot_discover_options *d, spot_describer *describer, outcome *e)
{
    SPOT_TRY(spot_describer_open(c, describer, s, s->encoder));
    d->attributes = describer->o.attributes;
    spot_discover_rules(d);
    SPOT_TRY(log_cost(c, o, s, d, describer, &e->cost));
    SPOT_TRY(spot_discover_run(c, f, s, d, &(spot_discover_place){ cli_study_place(&o->study), o->replace }, &e->run));
    SPOT_TRY(keep_programs(c, o, s));
    if (!f->count) return SPOT_OK;
    SPOT_TRY(spot_describer_run(c, describer, f, s));
    SPOT_TRY(spot_findings_write(c, o->study.place.out, f, s, d));
    SPOT_TRY(write_merges(c, o, s, d));
    return o->report ? write_report(c, o, f, s, d) : SPOT_OK;
}

static spot_status show_findings(spot_ctx *c, const discover_flags *o, const spot_findings *f, const spot_subject *s,
                                 const spot_discover_options *d, const outcome *e)
{
    char note[SPOT_FINDINGS_NOTE];

    if (!f->count) {
        printf("in %s: %d of %d classes of shard %d of %d; slices come when those of all shards are there\n",
               o->study.place.out, e->run.already + e->run.done, e->run.planned, o->study.place.shard, o->study.place.shards);
        return SPOT_OK;
    }
    SPOT_TRY(cli_slice_table(c, f, s, d, &(cli_slice_list){ o->top, true, o->study.place.out }));
    if (*spot_features_note(note, &f->decided)) cli_wrap(note);
    printf("in %s: slices.csv, slices.json, map.npy, config.yaml%s%s\n", o->study.place.out, o->fit ? ", fit.safetensors" : "",
           o->report ? ", report.html" : "");
    return SPOT_OK;
}

/* Where classes of other shards are missing. */
static spot_status judge_later(spot_ctx *c, discover_flags *o, const spot_subject *s)
{
    spot_ci_report r = { .command = "discover", .open = true,
                         .verdict = "there is no verdict yet: classes of other shards are missing" };

    snprintf(r.subject, sizeof r.subject, "%.600s", s->source);
    return cli_ci_write(c, &o->ci, &r);
}

static spot_status judge_findings(spot_ctx *c, discover_flags *o, const spot_findings *f, const spot_subject *s,
                                  const spot_discover_options *d)
{
    const spot_subject_files *from = &o->files;
    char page[PATH];

    if (!f->count) return judge_later(c, o, s);
    snprintf(page, sizeof page, "%s/report.html", o->study.place.out);
    return cli_slices_judge(c, &(cli_slice_verdict){ .ci = &o->ci, .page = o->report ? page : NULL,
        .input = from->detections ? from->detections->file : from->probs ? from->probs : from->losses ? from->losses
               : from->model, .fail_on = (cli_fail_on)o->fail_on }, f, s, d);
}

static spot_status discover_rows(spot_ctx *c, discover_flags *o, spot_config *cfg, const spot_subject *s,
                                 spot_describer *describer)
{
    spot_discover_options d = spot_discover_defaults();
    spot_proof_options proof = spot_proof_defaults();
    outcome e = { .since = spot_clock() };
    spot_findings f = { 0 };
    spot_status how, verdict;

    SPOT_TRY(cli_class_read(c, &d.cls, o->cls, s));
    if (o->method || o->study.config) d.bdm = cfg->bdm, d.bdms = cfg->bdms;
    d.seed = o->seeds ? o->seed : &cfg->seed;
    d.seeds = o->seeds ? o->seeds : 1;
    d.least = o->least;
    d.memory = o->files.memory;
    d.cache = o->study.place.out;
    d.fit = o->fit;
    if (o->proof) d.proof = &proof;
    if (o->holdout > 0) {
        proof.parts = 1;
        proof.holdout = o->holdout;
    }
    proof.chance = o->chance;
    proof.level = o->level;
    how = find_slices(c, o, &f, s, &d, describer, &e);
    verdict = how == SPOT_OK ? judge_findings(c, o, &f, s, &d) : how;
    verdict = end_run(c, verdict, o, &f, s, &e);
    if (how == SPOT_OK && !o->study.json) how = show_findings(c, o, &f, s, &d, &e);
    spot_findings_close(&f);
    return verdict ? verdict : how;
}

static spot_status search_subject(spot_ctx *c, discover_flags *o, spot_config *cfg, spot_describer *describer)
{
    spot_subject s;
    spot_status how;

    SPOT_TRY(spot_describer_read(c, describer, &o->describe));
    SPOT_TRY(spot_subject_read(c, &s, &o->files));
    o->describe.memory = picture_memory(o, &s);
    how = o->replace ? SPOT_OK : spot_findings_check(c, o->study.place.out, &s);
    if (how == SPOT_OK && s.instance && !o->replace) how = spot_tables_check(c, o->study.place.out);
    if (how == SPOT_OK && s.instance) {
        how = cli_detector_write(c, &o->detector, &s, o->study.place.out);
        o->describe.instances = o->detector.table;
    }
    if (how == SPOT_OK && o->detector.rows_only)
        spot_log(c, SPOT_LOG_INFO, "%s; in %s: rows.csv, attributes.csv", s.source, o->study.place.out);
    else if (how == SPOT_OK) how = discover_rows(c, o, cfg, &s, describer);
    if (how == SPOT_OK && o->replace && !s.instance) how = spot_tables_drop(c, o->study.place.out);
    spot_subject_close(&s);
    return how;
}

/* A network looks at the pictures before the search opens the folder, and its convolutions are the run's, too. */
static spot_status open_plans(spot_ctx *c, const discover_flags *o)
{
    spot_store store;

    if (!c->device || !(o->files.model || o->files.embed)) return SPOT_OK;
    SPOT_TRY(spot_store_open_to_read(c, &store, o->study.place.out));
    SPOT_TRY(spot_folder_make(c, store.dir));
    return spot_store_plans(c, &store);
}

static spot_status search_with(spot_ctx *c, discover_flags *o, spot_config *cfg)
{
    spot_describer describer = { .files = &o->describe };
    spot_status how;

    SPOT_TRY(check_folder(c, o));
    SPOT_TRY(open_plans(c, o));
    SPOT_TRY(cli_encoder_options(c, &o->encoder, "embed-"));
    o->encoder.o.resize = o->files.resize;
    o->encoder.o.crop = o->files.crop;
    o->encoder.o.reading = o->files.reading;
    o->files.encoder = &o->encoder.o;
    o->kept.dir = o->study.place.out;
    o->files.programs = &o->kept;
    cli_detector_begin(&o->detector, &o->files);
    o->describe.skip = o->files.skip;
    o->describe.encoder_options = &o->encoder.o;
    if (o->describe.words && !o->describe.word_embeddings && !o->describe.encoder) o->describe.encoder = o->files.embed;
    how = search_subject(c, o, cfg, &describer);
    spot_kept_encoder_drop(&o->kept);
    spot_describer_close(c, &describer);
    return how;
}

/* A report of the verdict is none of the files of the command. */
static void take_files(discover_flags *o)
{
    const char *const input[] = { o->rows, o->study.config, o->detector.o.file, o->describe.attributes, o->describe.words,
                                  o->describe.encoder, o->describe.word_embeddings, o->study.place.out };

    o->ci.replace = o->replace;
    cli_ci_take_rows(&o->ci, &o->files);
    for (size_t i = 0; i < sizeof input / sizeof *input; i++) cli_ci_take(&o->ci, input[i]);
    for (const char *const *name = spot_findings_files; *name; name++) cli_ci_take_in(&o->ci, o->study.place.out, *name);
}

static spot_status search_blindspots(spot_ctx *c, discover_flags *o)
{
    spot_config cfg = spot_config_defaults();
    spot_status s;

    cli_log_device(c, &o->study.machine);
    SPOT_TRY(cli_ci_begin(c, &o->ci));
    s = o->study.config ? spot_methods_load(c, &cfg, o->study.config)
      : o->method ? cli_methods_read(c, &cfg, o->method) : SPOT_OK;
    if (!o->study.config) cfg.seed = 0;
    if (s == SPOT_OK) s = search_with(c, o, &cfg);
    spot_memory_close(&cfg.memory);
    return s;
}

static spot_status discover(spot_ctx *c, void *input)
{
    discover_flags *o = input;

    take_files(o);
    return cli_ci_end(c, search_blindspots(c, o), &o->ci, "discover", o->study.place.out);
}

static void store_defaults(void *input)
{
    discover_flags *o = input;

    o->least = spot_discover_defaults().least;
    o->chance = spot_proof_defaults().chance;
    o->level = spot_proof_defaults().level;
    o->page = spot_report_defaults();
    o->describe.rounds = spot_describe_defaults().rounds;
    cli_encoder_defaults(&o->encoder);
}

const cli_command cli_discover_command = {
    "discover", "blindspots of your classifier", "-e E -y Y -p P --out DIR\nROWS.yaml --out DIR",
    "  spotter discover --embeddings e.npy --labels y.npy --probs p.npy --out found\n"
    "  spotter discover data/rows.yaml --out found    # embeddings: e.npy, ...\n"
    "  spotter discover -e run.npz:e -y run.npz:y -p run.npz:p --class cat \\\n"
    "      --ids run.npz:path --images photos -m planespot-tsne,domino --out found\n"
    "  spotter discover --images photos --model resnet18.safetensors --out found\n"
    "  spotter discover --images val2017 --coco val2017.json \\\n"
    "      --model resnet18.safetensors --out found\n"
    "  spotter discover --images photos --ids rows.csv:path -y rows.csv:label \\\n"
    "      -p rows.csv:p --embed clip.safetensors --words phrases.txt --out found\n"
    "  spotter discover --images val2017 --coco val2017.json \\\n"
    "      --detections det.json --embed clip.safetensors --out found\n"
    "  spotter discover -e e.npy -y y.npy -p p.npy --ids ids.csv:id \\\n"
    "      --attributes table.csv:id --out found",
    "Finds groups of rows on which your classifier fails. Writes slices.csv, slices.json, a map, and an HTML report. The same "
    "command continues a search that was stopped. Findings of other data, and files that this program did not write, stay as "
    "they are without --replace. ROWS.yaml may hold the options about the rows and their words, by their names, such as "
    "`embeddings: e.npy`; its paths begin at its own folder, and an option of the command line has priority. In slices.csv a "
    "text that a spreadsheet would run as a formula has ' before it.",
    table, check_options,
    .work = discover, CLI_OPTIONS(seeds), .machine = true, .fill = store_defaults
};
