/* cmd_gather.c - spotter gather: tests a slice's description on new pictures. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "claims/claim_model.h"
#include "claims/claim_scenes.h"
#include "cli/cli.h"
#include "cli/encoder_rows.h"
#include "cli/gather_print.h"
#include "cli/model_rows.h"
#include "cli/slice_table.h"

enum { LISTED = 20 };          /* slices that are listed without --slice */

typedef struct {
    cli_machine machine;
    cli_encoder encoder;
    spot_claim_model model;
    const char *found, *text, *images, *weights, *label, *run, *out, *judge;
    int ec, slice, word, most, seed, size;
    double level;
    bool json;
} gather_flags, cli_flags;

/* Findings as they are read; closed: none. */
typedef struct {
    spot_subject s;
    spot_findings f;
    spot_discover_options d;
    bool open;
} found_slices;

static const cli_row table[] = {
    { .word = "FOUND", .kind = CLI_TEXT, CLI_AT(found), .most = 1000 },
    { "slice",   'k', "K",    CLI_INT,  CLI_AT(slice), 1, 1000000,
      .help = "number of the slice in the table of FOUND, a folder of spotter discover; without it the table is printed" },
    { "word",    0,   "N",    CLI_INT,  CLI_AT(word), 1, 100, .preset = "1", .help = "phrase of the slice, from its best" },
    { "text",    0,   "PHRASE", CLI_TEXT, CLI_AT(text), .otherwise = "the slice's own words", .most = 1000,
      .help = "description of a slice, such as \"a dog in the snow\"" },
    { "images",  0,   "DIR",  CLI_TEXT, CLI_AT(images), .most = 1000,
      .help = "folder of new pictures; those of the class alone where it has a folder of that name. With --judge: where the "
      "pictures of the table are now" },
    { "label",   0,   "CLASS", CLI_TEXT, CLI_AT(label), .most = 250, .otherwise = "the slice's class",
      .help = "class that all these pictures show" },
    { "encoder", 0,   "FILE", CLI_TEXT, CLI_AT(weights),
      .help = "CLIP in .safetensors that compares the phrase with the pictures" },
    { "run",     'r', "DIR",  CLI_TEXT, CLI_AT(run), .most = 1000,
      .help = "run of spotter sweep: new images with the attributes of the slice are drawn, in place of --images" },
    { "ec",      'e', "N",    CLI_INT,  CLI_AT(ec), 0, 1000000, .preset = "0", .help = "number of the EC in --run, from 0" },
    { "most",    0,   "N",    CLI_INT,  CLI_AT(most), 1, 1000000, .preset = "40",
      .help = "pictures that are gathered, and as many random others as controls" },
    { "seed",    's', "N",    CLI_INT,  CLI_AT(seed), 0, 2147483647, .preset = "0", .help = "seed of the controls" },
    { "out",     'o', "DIR",  CLI_TEXT, CLI_AT(out), .most = 1000, .help = "folder for gathered.csv and claim.json" },
    { "judge",   0,   "FILE", CLI_TEXT, CLI_AT(judge), .most = 1000,
      .help = "gathered.csv whose column `wrong` you have filled with 0 and 1; a picture with an empty cell is left out" },
    { "groups",  0,   "G|folders", CLI_TEXT, CLI_AT(model.groups), .most = 1000, .otherwise = "each picture alone",
      .flags = CLI_MORE,
      .help = "video, patient or other group of each picture, since pictures of a group depend on each other: table.csv:COLUMN "
              "with the rows of --ids, or folders: the pictures of each folder are a group; gathered.csv then has a column "
              "`groups`, which --judge takes. With --judge: another column of its table" },
    { .kind = CLI_HEADING, .help = "A classifier that is measured at once:" },
    { "model",   'm', "FILE", CLI_TEXT, CLI_AT(model.model), .most = 1000,
      .help = "ResNet of any depth, AlexNet or ViT in .safetensors" CLI_OTHER_MODELS },
    { "predict", 'p', "COMMAND", CLI_TEXT, CLI_AT(model.predict), .most = 1000,
      .help = "program that reads pictures and writes logits: any classifier (include/spotter/predictor.h)" },
    { "probs",   0,   "P",    CLI_TEXT, CLI_AT(model.probs), .most = 1000,
      .help = "probabilities of the pictures below --images: (pictures, classes), or of class 1 of two, or of their class" },
    { "ids",     'i', "I",    CLI_TEXT, CLI_AT(model.ids), .otherwise = "all pictures below --images, sorted",
      .help = "names of the pictures in the rows of --probs and --groups" },
    { "classes", 0,   "FILE", CLI_TEXT, CLI_AT(model.classes), .otherwise = "those of FOUND, or numbers",
      .help = "text with the class of each output, a line each" },
    { "resize",  0,   "N",    CLI_INT, CLI_AT(model.resize), 0, 16384, .preset = "256",
      .help = "pixels of a picture's shorter side before the crop; 0: as it is" },
    { "crop",    0,   "N",    CLI_INT, CLI_AT(model.crop), 1, 4096, .preset = "224",
      .help = "pixels of the square in the middle of a picture" },
    CLI_SIZE_ROW(size, 0),
    CLI_SQUARE_ROWS("", model.input, "", 0),
    CLI_INPUT_ROWS("", model.input, "", 0),
    CLI_READING_ROWS(model.reading, 0),
    { .kind = CLI_HEADING, .help = "The test:" },
    { "level",   0,   "X",    CLI_REAL, CLI_AT(level), 0.000001, 0.5, .flags = CLI_SHOWN,
      .help = "significance level of the test" },
    { "json",    'j', NULL,   CLI_ON,   CLI_AT(json), .help = "the verdict as one JSON object on stdout" },
    CLI_ENCODER_ROWS("", encoder),
    CLI_ENCODER_TEXT_ROWS("", encoder),
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static bool measures(const gather_flags *o) { return o->model.model || o->model.predict || o->model.probs; }

static void check_model(const struct argp_state *state, const gather_flags *o)
{
    const spot_claim_model *m = &o->model;

    if (!!m->model + !!m->predict + !!m->probs > 1)
        argp_error(state, "--model, --predict and --probs all say what the classifier answers; give one of them");
    cli_input_check(state, &m->input, m->model || m->predict);
    if (m->ids && !m->probs && !m->groups) argp_error(state, "--ids names the rows of --probs or --groups, which are missing");
    if (m->groups && o->run) argp_error(state, "--groups is of pictures that exist; drawn images are alone");
    if (m->classes && !measures(o)) argp_error(state, "--classes names the outputs of --model, --predict or --probs");
    if (o->run && m->probs) argp_error(state, "--probs are of pictures that exist; the images of --run are drawn");
    if (measures(o) && !o->run && !o->slice && !o->label)
        argp_error(state, "a classifier is wrong or right by the pictures' class; say which class they show: --label CLASS");
}

static void check_options(const struct argp_state *state, void *input)
{
    gather_flags *o = input;
    const bool makes = o->run || o->found || o->text || (o->images && !o->judge) || o->weights || o->out || o->slice || o->label
                    || measures(o);

    if (o->judge && makes)
        argp_error(state, "--judge tests a table that is filled; the options that make one do not go with it");
    if (o->judge) return;
    if (o->slice && !o->found) argp_error(state, "--slice counts the slices of a folder of findings, which is missing");
    if (o->found && !o->slice && (o->images || o->run || o->out))
        argp_error(state, "say with --slice which slice of %s is tested; spotter gather %s lists them", o->found, o->found);
    if (o->found && !o->slice) return;
    check_model(state, o);
    cli_square_check(state, o->size, &o->model.resize, &o->model.crop, &o->model.input);
    if (o->run && (o->images || o->weights || cli_is_given(state, "word")))
        argp_error(state, "--run draws images by their attributes; --images, --encoder and --word do not go with it");
    if (!o->run && cli_is_given(state, "ec")) argp_error(state, "--ec is the number of an EC in a run: --run DIR");
    if (o->run && (!o->text && !o->slice)) argp_error(state, "--run needs a claim: FOUND --slice K, or --text ATTRIBUTES");
    if (o->run && !o->out) argp_error(state, "--out DIR is missing: the folder for the images and the verdict");
    if (o->run) return;
    if ((!o->text && !o->slice) || !o->images || !o->weights || !o->out)
        argp_error(state, "give --text, --images, --encoder and --out to gather pictures, or --judge FILE to test");
}

/* ---- gather ---- */

/* The claim of slice --slice in the table of the findings. */
static spot_status claim_slice(spot_ctx *c, const gather_flags *o, spot_slice_claim *k, const found_slices *found)
{
    spot_claimed_slice of = { .subject = &found->s, .attributes = found->d.attributes, .dir = o->found, .number = o->slice };
    int slices;

    SPOT_TRY(cli_slice_of_table(c, &of.finding, &of.slice, &slices, &found->f, &found->s, o->slice));
    if (!of.slice)
        return spot_fail(c, SPOT_USAGE, "%s has no slice %d; it has %d%s", o->found, o->slice, slices,
                         slices ? ", numbered as in the table of spotter discover" : "");
    return spot_slice_claim_make(c, k, &of, o->run ? 0 : o->word, o->text);
}

static spot_status make_claim(spot_ctx *c, const gather_flags *o, spot_slice_claim *k, const found_slices *found)
{
    *k = (spot_slice_claim){ .rate = NAN, .class_rate = NAN };
    if (o->slice) SPOT_TRY(claim_slice(c, o, k, found));
    else snprintf(k->text, sizeof k->text, "%s", o->text);
    if (o->run) snprintf(k->root, sizeof k->root, "%s/pictures", o->out);
    else snprintf(k->root, sizeof k->root, "%s", o->images);
    if (o->run && !*k->cls) snprintf(k->cls, sizeof k->cls, "%s", o->label ? o->label : "1");
    if (!o->label) return SPOT_OK;
    if (*k->cls && strcmp(k->cls, o->label))
        return spot_fail(c, SPOT_USAGE, "slice %d of %s is of class %s, but --label says %s", o->slice, o->found, k->cls,
                         o->label);
    snprintf(k->cls, sizeof k->cls, "%s", o->label);
    return SPOT_OK;
}

/* Whether a classifier can be right or wrong on the pictures; who looks at them is told where they may be of any class. */
static spot_status check_class(spot_ctx *c, const gather_flags *o, const spot_slice_claim *k)
{
    if (o->run || o->label || spot_gather_has_class(o->images, k->cls)) return SPOT_OK;
    if (!measures(o) && *k->cls)
        spot_log(c, SPOT_LOG_WARN, "%s has no folder \"%s\", so pictures of all classes are gathered: in gathered.csv leave "
                 "`wrong` empty for those of another class, or say with --label that all show this one", o->images, k->cls);
    if (!measures(o)) return SPOT_OK;
    if (!*k->cls)
        return spot_fail(c, SPOT_USAGE, "slice %d of %s has rows of several classes; a claim is tested in one: --label CLASS "
                         "says which class the pictures of %s show", o->slice, o->found, o->images);
    return spot_fail(c, SPOT_USAGE, "the slice is of class \"%s\", and %s has no folder of that name; if all its pictures show "
                     "this class, say so with --label", k->cls, o->images);
}

static spot_status say_verdict(spot_ctx *c, const gather_flags *o, const spot_slice_claim *k, const spot_new_pictures *p,
                               const int *group)
{
    if (!o->json) printf("in %s: gathered.csv, claim.json, verdict.json, gather.html\n", o->out);
    return cli_claim_verdict(c, k, p, group, o->out, o->level, o->json);
}

static void say_what_to_do(const gather_flags *o, const spot_slice_claim *k, const spot_new_pictures *p)
{
    cli_claim_print(k);
    printf("%s/gathered.csv: %d pictures and %d controls; fill the column `wrong`, then spotter gather --judge "
           "%s/gathered.csv\n", o->out, p->n / 2, p->n / 2, o->out);
}

/* Draws scenes and measures the EC's own network, or the one that the options name. */
static spot_status gather_from_ec(spot_ctx *c, gather_flags *o, const spot_config *cfg, spot_slice_claim *claim,
                                  spot_new_pictures *p)
{
    static char *const classes[] = { "0", "1" };
    spot_claim_scenes k = { .run = o->run, .cfg = cfg };
    char name[SPOT_CLAIM_PATH + 64];
    spot_status s = spot_claim_scenes_open(c, &k, o->ec);

    snprintf(name, sizeof name, "the network of EC %d in %s", o->ec, o->run);
    o->model.name = name;
    o->model.resize = 0, o->model.crop = k.ec.scene.size;
    if (!o->model.known) o->model.known = (char *const *)classes, o->model.known_n = 2;
    if (!s && !measures(o)) s = spot_claim_scenes_network(c, &k, &o->model.own);
    if (!s) s = spot_claim_scenes_draw(c, p, &k, claim, o->most, o->seed);
    if (!s) s = spot_claim_measure(c, p, claim, &o->model);
    o->model.own.function = NULL;
    spot_claim_scenes_close(c, &k);
    return s;
}

static spot_status gather_scenes(spot_ctx *c, gather_flags *o, spot_slice_claim *claim, spot_new_pictures *p)
{
    char path[SPOT_CLAIM_PATH + 16];
    spot_config cfg;
    spot_status s;

    snprintf(path, sizeof path, "%s/config.yaml", o->run);
    s = cli_config(c, &cfg, path);
    if (!s) s = gather_from_ec(c, o, &cfg, claim, p);
    spot_memory_close(&cfg.memory);
    return s;
}

static spot_status gather_pictures(spot_ctx *c, gather_flags *o, const found_slices *found, spot_slice_claim *claim,
                                   spot_new_pictures *p)
{
    const spot_gather_options how = { .images = o->images, .cls = claim->cls, .phrase = claim->text, .weights = o->weights,
                                      .encoder = &o->encoder.o, .most = o->most, .seed = (uint64_t)o->seed,
                                      .known = found->open ? &found->s : NULL };

    SPOT_TRY(check_class(c, o, claim));
    SPOT_TRY(spot_claim_model_check(c, claim->cls, &o->model));
    SPOT_TRY(cli_encoder_options(c, &o->encoder, ""));
    o->encoder.o.reading = o->model.reading;
    SPOT_TRY(spot_gather(c, p, &how));
    return measures(o) ? spot_claim_measure(c, p, claim, &o->model) : SPOT_OK;
}

static spot_status gather_new(spot_ctx *c, gather_flags *o, const found_slices *found)
{
    spot_new_pictures p = { 0 };
    spot_slice_claim claim;
    spot_subject of = { 0 };
    spot_status s;

    if (found->open) o->model.known = found->s.class_name, o->model.known_n = found->s.classes;
    SPOT_TRY(make_claim(c, o, &claim, found));
    claim.reading = o->model.reading;
    s = o->run ? gather_scenes(c, o, &claim, &p) : gather_pictures(c, o, found, &claim, &p);
    if (!s && o->model.groups) s = spot_claim_groups(c, &of, &p, claim.root, &o->model);
    if (!s) s = spot_gathered_write(c, o->out, &claim, &p, &of);
    if (!s && (measures(o) || o->run)) s = say_verdict(c, o, &claim, &p, of.group);
    else if (!s) say_what_to_do(o, &claim, &p);
    spot_subject_close(&of);
    spot_new_pictures_close(&p);
    return s;
}

/* ---- judge ---- */

/* The page shows pictures of a folder that the reader names, or those of which the table was written. */
static void choose_folder(spot_ctx *c, const gather_flags *o, spot_slice_claim *k, const spot_new_pictures *p)
{
    if (o->images) snprintf(k->root, sizeof k->root, "%s", o->images);
    if (o->images || spot_gathered_same(c, k, p)) return;
    spot_log(c, SPOT_LOG_WARN, "%s: the page is without pictures: what lies in %s now is not what the table was written of; "
             "--images FOLDER says where they are", o->judge, k->root);
    *k->root = 0;
}

static spot_status judge_table(spot_ctx *c, const gather_flags *o)
{
    const char *slash = strrchr(o->judge, '/');
    char dir[SPOT_CLAIM_PATH];
    spot_new_pictures p;
    spot_slice_claim claim;
    spot_subject of = { 0 };
    spot_gathered_has has;
    spot_status s = spot_gathered_read(c, o->judge, &claim, &p, &has);
    const char *groups = o->model.groups ? o->model.groups : has.groups ? SPOT_GATHERED_GROUPS : NULL;

    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - o->judge) : 1, slash ? o->judge : ".");
    claim.reading = o->model.reading;
    if (!s && has.claim) choose_folder(c, o, &claim, &p);
    if (!s && groups) s = spot_gathered_groups(c, &of, o->judge, groups, p.n);
    if (!s) s = cli_claim_verdict(c, &claim, &p, of.group, has.claim ? dir : NULL, o->level, o->json);
    spot_subject_close(&of);
    spot_new_pictures_close(&p);
    return s;
}

static spot_status test_claim(spot_ctx *c, void *input)
{
    gather_flags *o = input;
    found_slices found = { .open = false };
    spot_status s = SPOT_OK;

    if (o->judge) return judge_table(c, o);
    if (o->found) SPOT_TRY(spot_findings_read(c, o->found, &found.s, &found.f, &found.d));
    found.open = o->found != NULL;
    if (o->found && !o->slice)
        s = cli_slice_table(c, &found.f, &found.s, &found.d, &(cli_slice_list){ .top = LISTED });
    else s = gather_new(c, o, &found);
    if (found.open) {
        spot_findings_close(&found.f);
        spot_subject_close(&found.s);
    }
    return s;
}

static void store_defaults(void *input)
{
    gather_flags *o = input;

    o->level = spot_proof_defaults().level;
    cli_encoder_defaults(&o->encoder);
}

const cli_command cli_gather_command = {
    "gather", "test of a slice's description on new pictures", "[FOUND --slice K] --images DIR --out DIR",
    "  spotter gather found      # the slices and their words\n"
    "  spotter gather found --slice 1 --images new --encoder clip.safetensors \\\n"
    "      --out snow\n"
    "  spotter gather found --slice 1 --images new --encoder clip.safetensors \\\n"
    "      --model resnet18.safetensors --out snow\n"
    "  spotter gather --text \"a dog in the snow\" --images dogs \\\n"
    "      --encoder clip.safetensors --out snow\n"
    "  spotter gather --judge snow/gathered.csv\n"
    "  spotter gather found --slice 1 --run runs/quickstart --ec 0 --out drawn",
    "Takes the pictures of a folder that are nearest to a phrase, and as many random others as controls, into gathered.csv. "
    "The phrase is that of a slice in FOUND, or your own. When you have looked whether your classifier is wrong on each, "
    "or a classifier has been measured (--model, --predict, --probs), the test says whether the phrase names a "
    "weakness: Fisher's exact test, one-sided; with --groups the signs of the groups' sums. The pictures must be new to the "
    "search that found the slice; those that FOUND knows are left out. With --run the images are drawn: scenes that have the "
    "slice's attributes beside scenes that lack one of them, and the network of the EC answers, or --model or --predict.",
    table, check_options, .work = test_claim, CLI_OPTIONS(out), .machine = true, .fill = store_defaults
};
