/* cmd_embed.c - spotter embed: features of pictures or texts by CLIP, a ViT, a ResNet or AlexNet. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/room.h"
#include "cli/embed_save.h"
#include "cli/encoder_rows.h"
#include "cli/model_rows.h"
#include "cli/study_command.h"
#include "formats/picture.h"
#include "models/idle_cores.h"
#include "models/picture_input.h"
#include "models/predictor_memory.h"
#include "study/kept_encoder.h"
#include "study/process_memory.h"

typedef struct {
    cli_machine machine;
    cli_encoder encoder;
    cli_embed_input in;
    const char *model, *predict, *out;
    int size;
    bool half, skip, json;
    cli_embed_force force;
} embed_flags, cli_flags;

static const cli_row table[] = {
    { "model",  'm', "FILE", CLI_TEXT, CLI_AT(model),
      .help = "encoder in .safetensors: a CLIP (names of Hugging Face, OpenAI or open_clip), a ViT (timm's, "
        "DINOv2's), or a ResNet of any depth or AlexNet (torchvision's; no head is needed); or neutral, statistics and edges "
        "of pictures, which needs no file" CLI_OTHER_MODELS },
    CLI_PREDICT_ROW('p', predict, 0),
    { "images", 'i', "DIR",  CLI_TEXT, CLI_AT(in.images), .help = "folder of pictures; all below it, or those of --coco" },
    { "texts",  0,   "FILE", CLI_TEXT, CLI_AT(in.texts), .help = "texts in UTF-8, one a line" },
    { "coco",   0,   "FILE", CLI_TEXT, CLI_AT(in.coco),
      .help = "COCO annotations: with --images the pictures that they name; alone their captions" },
    { "out",    'o', "FILE", CLI_TEXT, CLI_AT(out), .most = 1000, .need = "e.safetensors",
      .help = "file for the rows, .safetensors or .npy; the same command continues it" },
    { "half",   0,   NULL,   CLI_ON, CLI_AT(half), .help = "numbers of 16 bits (.safetensors)" },
    { "skip-unreadable", 0, NULL, CLI_ON, CLI_AT(skip), .help = "pictures that cannot be read are left out and counted" },
    { "follow-links", 0, NULL, CLI_ON, CLI_AT(in.links),
      .help = "pictures that --coco names may lie outside --images, behind symbolic links" },
    { "resize", 0,   "N",    CLI_INT, CLI_AT(encoder.o.resize), 0, 16384, .preset = "256",
      .help = "pixels of a picture's shorter side before the crop; 0: as it is; without the option a CLIP or ViT takes its own "
              "side" },
    { "crop",   0,   "N",    CLI_INT, CLI_AT(encoder.o.crop), 1, 16384, .preset = "224",
      .help = "pixels of the square in the middle of a picture; a CLIP or ViT has the one that its file tells" },
    CLI_SIZE_ROW(size, 0),
    CLI_SQUARE_ROWS("", encoder.o.input, "", 0),
    CLI_INPUT_ROWS("", encoder.o.input, "", 0),
    CLI_READING_ROWS(encoder.o.reading, 0),
    CLI_ENCODER_TEXT_ROWS("", encoder),
    { "replace", 0,  NULL,   CLI_ON, CLI_AT(force.replace), .help = "overwrite files with the names of the output" },
    { "beside", 0,   NULL,   CLI_ON, CLI_AT(force.beside), .help = "no stop where another process works on the same output" },
    { "json",   'j', NULL,   CLI_ON, CLI_AT(json), .help = "one JSON object on stdout at the end" },
    CLI_ENCODER_ROWS("", encoder),
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    embed_flags *o = input;
    const cli_embed_input *in = &o->in;

    o->model = cli_model_text(state, o->model, o->predict);
    if (!o->model) argp_error(state, "--model FILE is missing; for example: --model clip.safetensors");
    if (!in->images && !in->texts && !in->coco) argp_error(state, "no input; give --images DIR, --texts FILE or --coco FILE");
    cli_input_check(state, &o->encoder.o.input, o->model);
    cli_square_check(state, o->size, &o->encoder.o.resize, &o->encoder.o.crop, &o->encoder.o.input);
    if (in->texts && (in->images || in->coco)) argp_error(state, "--texts does not go with pictures; run the command for each");
}

/* -- the work ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    const embed_flags *o;
    cli_embed_files files;
    cli_embed_rows rows;
    spot_encoder  *encoder;
    spot_encoder_info about;
    spot_kept_encoder kept;
    char           folder[1100];       /* of the output */
    cli_embed_part part;
    int            skipped;
    size_t resident, process;          /* bytes of this process before the encoder was open, without and with libraries' */
} job;

/* Whether the output is one of the files that are found by their names: beside the weights, or in the tokenizer's folder. */
static bool is_beside(const job *j, const char *out)
{
    static const char *const names[] = { "config.json", "open_clip_config.json", "preprocessor_config.json", "tokenizer.json",
                                         "vocab.json" };
    const char *model = j->o->model, *slash = strrchr(model, '/'), *words = j->o->encoder.o.vocabulary;
    char weights[4200], tokenizer[4200];
    const spot_subject_files in = { .model = weights, .ids = tokenizer };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(weights, sizeof weights, "%.*s%s", slash ? (int)(slash + 1 - model) : 0, model, names[i]);
        snprintf(tokenizer, sizeof tokenizer, "%s/%s", words ? words : ".", words ? names[i] : "");
        if (cli_is_input(&in, out)) return true;
    }
    return false;
}

static spot_status check_inputs(spot_ctx *c, const job *j)
{
    const spot_subject_files in = { .labels = j->o->in.texts, .coco = j->o->in.coco, .model = j->o->model,
                                    .ids = j->o->encoder.o.vocabulary, .embed = j->o->encoder.o.clip.config };
    const char *const made[] = { j->files.out, j->files.csv, j->files.json, j->part.path };

    for (int i = 0; i < 4; i++)
        if (*made[i] && (cli_is_input(&in, made[i]) || is_beside(j, made[i])))
            return spot_fail(c, SPOT_USAGE, "%s would be read and written over; choose another name", made[i]);
    return SPOT_OK;
}

/* The keys of the blocks, and of all. */
static spot_status make_keys(spot_ctx *c, job *j)
{
    cli_embed_part *p = &j->part;
    int blocks = cli_embed_blocks(p), form[] = { j->rows.path != NULL, p->dim, p->block, j->files.half };
    spot_key all;

    p->key = spot_key_join(spot_key_of(j->about.name, strlen(j->about.name)), "embed", form, 3 * sizeof *form);
    p->of = malloc((size_t)blocks * sizeof *p->of);
    if (!p->of) return spot_fail(c, SPOT_NOMEM, "no memory for %d rows", p->n);
    for (int b = 0; b < blocks; b++)
        SPOT_TRY(cli_embed_rows_key(c, &p->of[b], &j->rows, b * p->block, cli_embed_block_rows(p, b)));
    all = spot_key_join(p->key, "rows", p->of, (size_t)blocks * sizeof *p->of);
    spot_key_text(j->files.key, spot_key_join(all, "form", &form[3], sizeof form[3]));
    return SPOT_OK;
}

/* Measured with 1 to 8 threads: code of the decoders that is not yet read, stacks and heaps of threads. No network runs for
 * neutral rows. */
#define DECODERS(threads) ((size_t)(3 + (threads)) << 20)

/* The encoder with a block of rows and its squares, or the rows that are saved after it is closed. Scratch is for a whole
 * block: where there are fewer rows, the rest of it stays untouched. A program has its own memory beside that. */
static size_t memory_of(const spot_ctx *c, const job *j)
{
    const size_t rows = (size_t)j->part.n * (size_t)j->part.dim * sizeof(float), side = (size_t)j->about.side;
    const size_t block = (size_t)(j->part.n < j->part.block ? j->part.n : j->part.block);
    const size_t some = 2 * spot_largest_file(&j->o->model, 1) + j->about.bytes / (size_t)j->part.block * block;
    const size_t network = some < j->about.bytes ? some : j->about.bytes;
    const size_t row = (j->rows.path ? 3 * side * side : 0) + (size_t)j->part.dim * sizeof(float);
    const size_t work = network + block * row;
    const size_t process = j->about.kind == SPOT_ENCODER_NEUTRAL ? j->resident + DECODERS(c->threads) : j->process;

    return process + (work > rows ? work : rows);
}

static void log_plan(spot_ctx *c, const job *j)
{
    char takes[32], decoding[32];

    cli_memory(takes, (double)cli_study_states(memory_of(c, j)));
    cli_memory(decoding, (double)(j->o->encoder.o.memory ? j->o->encoder.o.memory : SPOT_PICTURE_MEMORY));
    spot_log(c, SPOT_LOG_INFO, "%d %s by %s (%s): %d numbers a row; at most %s of memory%s%s%s%s", j->part.n,
             j->rows.path ? "pictures" : "texts", j->o->model, j->about.name, j->part.dim, takes,
             j->about.kind == SPOT_ENCODER_PROGRAM ? " beside the program's" : "",
             j->rows.path ? ", and for decoding at most " : "", j->rows.path ? decoding : "",
             j->rows.path ? " where pictures are huge" : "");
    if (j->rows.path) spot_encoder_say_input(c, j->encoder, SPOT_INPUT_OPTIONS);
}

/* Blocks of an encoder that a block of the part file has on a device, which works on one while the next is decoded. */
enum { DEVICE_BLOCKS = 8 };

static spot_status open_job(spot_ctx *c, job *j)
{
    cli_encoder e = j->o->encoder;
    cli_embed_part *p = &j->part;

    j->resident = spot_resident_now(), j->process = spot_process_memory();
    SPOT_TRY(cli_encoder_options(c, &e, ""));
    SPOT_TRY(cli_embed_name_files(c, &j->files, j->o->out, j->o->half));
    snprintf(p->path, sizeof p->path, "%s.part", j->o->out);
    SPOT_TRY(check_inputs(c, j));
    SPOT_TRY(cli_embed_list(c, &j->rows, &j->o->in));
    e.o.clip.use = j->rows.path ? SPOT_CLIP_USE_IMAGES : SPOT_CLIP_USE_TEXTS;
    SPOT_TRY(spot_encoder_open(c, &j->encoder, j->o->model, &e.o));
    SPOT_TRY(spot_encoder_check_features(c, j->encoder));
    spot_kept_folder(j->folder, sizeof j->folder, j->o->out);
    j->kept.dir = j->folder;
    SPOT_TRY(spot_kept_encoder_know(c, &j->kept, j->encoder));
    j->about = *spot_encoder_about(j->encoder);
    spot_warn_of_encoder(c, &j->about, e.o.clip.precision, "--precision");
    p->n = j->rows.n;
    p->dim = j->about.dim;
    p->block = j->rows.path ? j->about.picture_block * (c->device ? DEVICE_BLOCKS : 1) : j->about.text_block;
    if (!p->block)
        return spot_fail(c, SPOT_INPUT, "%s has no tower for %s", j->o->model, j->rows.path ? "pictures" : "texts");
    return make_keys(c, j);
}

static spot_status run_block(spot_ctx *c, job *j, int b, int before)
{
    cli_embed_part *p = &j->part;
    int first = b * p->block, n = cli_embed_block_rows(p, b);
    uint8_t *marks = cli_embed_part_marks(p, b);
    spot_encoder_pictures pictures = { .path = j->rows.path + (j->rows.path ? first : 0), .n = n,
                                       .feature = cli_embed_part_rows(p), .unreadable = j->o->skip ? marks : NULL,
                                       .option = "--skip-unreadable",
                                       .stage = "embed", .before = before, .total = p->n, .skipped = &j->skipped };
    spot_encoder_texts texts = { .text = (const char *const *)j->rows.id + first, .n = n, .feature = cli_embed_part_rows(p),
                                 .quiet = true, .stage = "embed", .before = before, .total = p->n };

    memset(marks, 0, (size_t)n);
    SPOT_TRY(j->rows.path ? spot_encode_pictures(c, j->encoder, &pictures) : spot_encode_text_rows(c, j->encoder, &texts));
    return cli_embed_part_write(c, p, b);
}

static spot_status run_blocks(spot_ctx *c, job *j)
{
    cli_embed_part *p = &j->part;
    int done = cli_embed_rows_done(p), now = 0;
    double start = spot_clock();

    if (done) spot_log(c, SPOT_LOG_INFO, "%d of %d rows are there from an earlier start", done, p->n);
    for (int b = 0; b < cli_embed_blocks(p); b++) {
        char left[32];
        if (p->done[b]) continue;
        SPOT_TRY(run_block(c, j, b, done));
        done += cli_embed_block_rows(p, b);
        if (now++ || done == p->n) continue;
        cli_duration(left, (spot_clock() - start) / cli_embed_block_rows(p, b) * (p->n - done));
        spot_log(c, SPOT_LOG_INFO, "%d of %d rows are done; the others take about %s", done, p->n, left);
    }
    return SPOT_OK;
}

/* Computes what is missing, gives the encoder's memory back, and writes the output. */
static spot_status make_output(spot_ctx *c, job *j, cli_embed_report *report)
{
    bool part = !access(j->part.path, F_OK), done = false;

    if (!j->o->force.replace) SPOT_TRY(cli_embed_check(c, &j->files, part, &done, report));
    if (done) {
        if (part) cli_embed_part_tidy(c, &j->part);
        spot_log(c, SPOT_LOG_INFO, "nothing to do: %s is there and has these rows", j->files.out);
        return SPOT_OK;
    }
    if (!j->rows.path)
        SPOT_TRY(spot_encoder_check_texts(c, j->encoder, (const char *const *)j->rows.id, j->rows.n));
    log_plan(c, j);
    SPOT_TRY(cli_study_room(c, 0));        /* for addresses: the encoder has its memory, and decoding asks for its own */
    SPOT_TRY(cli_embed_part_open(c, &j->part, j->o->force));
    SPOT_TRY(spot_kept_encoder_save(c, &j->kept));
    SPOT_TRY(run_blocks(c, j));
    spot_encoder_close(c, j->encoder);
    j->encoder = NULL;
    SPOT_TRY(cli_embed_save(c, &j->files, &j->part, &j->rows, &j->about, j->o->model, report));
    unlink(j->part.path);
    return SPOT_OK;
}

static spot_status print_json(spot_ctx *c, const job *j, const cli_embed_report *report, double seconds)
{
    spot_json json;

    SPOT_TRY(cli_json_open(c, &json, SPOT_OK, j->files.out));
    spot_json_put_text(&json, "ids", j->files.csv);
    spot_json_put_text(&json, "encoder", j->about.name);
    spot_json_put_text(&json, "rows_of", j->rows.path ? "images" : "texts");
    spot_json_put_int(&json, "rows", report->rows);
    spot_json_put_int(&json, "skipped", report->skipped);
    spot_json_put_int(&json, "dim", report->dim);
    spot_json_put_number(&json, "seconds", "%.1f", seconds);
    spot_json_print(&json, stdout);
    return SPOT_OK;
}

static spot_status run_job(spot_ctx *c, job *j)
{
    double start = spot_clock();
    cli_embed_report report = { 0 };

    SPOT_TRY(open_job(c, j));
    SPOT_TRY(make_output(c, j, &report));
    report.dim = j->part.dim;
    if (report.skipped)
        spot_log(c, SPOT_LOG_WARN, "%d of %d pictures cannot be read and are left out", report.skipped, j->rows.n);
    if (j->o->json) return print_json(c, j, &report, spot_clock() - start);
    printf("%s\n%s\n", j->files.out, j->files.csv);
    return SPOT_OK;
}

static spot_status embed(spot_ctx *c, void *input)
{
    job j = { .o = input, .part = { .fd = -1 } };
    spot_status s;

    cli_log_device(c, &j.o->machine);
    s = run_job(c, &j);
    if (s && s != SPOT_STOPPED && j.part.done && cli_embed_rows_done(&j.part))
        spot_log(c, SPOT_LOG_INFO, "%d of %d rows are saved in %s; the same command continues", cli_embed_rows_done(&j.part),
                 j.part.n, j.part.path);
    cli_embed_part_close(&j.part);
    free(j.part.of);
    spot_encoder_close(c, j.encoder);
    spot_kept_encoder_drop(&j.kept);
    cli_embed_rows_close(&j.rows);
    return s;
}

static void store_defaults(void *input) { cli_encoder_defaults(&((embed_flags *)input)->encoder); }

const cli_command cli_embed_command = {
    "embed", "features of pictures or texts by CLIP, a ViT, a ResNet or AlexNet", "--model FILE --images DIR --out FILE",
    "  spotter embed --model clip.safetensors --images photos --out e.safetensors\n"
    "  spotter embed --model clip.safetensors --texts captions.txt --out t.npy\n"
    "  spotter embed --model clip.safetensors --coco captions.json --out t.npy\n"
    "  spotter embed --model neutral --images photos --out n.safetensors\n"
    "  spotter embed --model resnet18.safetensors --coco val2017.json \\\n"
    "      --images val2017 --out e.safetensors\n"
    "  spotter discover --embeddings e.safetensors:embeddings --ids e.csv:id \\\n"
    "      --images photos --labels y.npy --probs p.npy --out found",
    "Writes a row of numbers for each picture or text: CLIP's rows have length 1, a ResNet's are those before its head, "
    "neutral ones need no file, a program's are its embeddings. "
    "e.safetensors has the tensor `embeddings` and, in its metadata, the encoder's name; e.npy has the array, and e.json the "
    "name. Answers of a program to pictures of Spotter's own lie in the folder `programs` beside the output: features that "
    "are made there later, and findings of such rows, are of the same encoder where it answers the same but for rounding. "
    "e.csv has the columns row and id: the path below DIR, or the text; for captions also image. Pictures come sorted "
    "by folder and name, as an ImageFolder lists them; those of --coco and texts keep the order of their file.\n"
    "The same command continues work that was stopped, with the same bytes in the end; until then rows lie in FILE.part. Files "
    "that this program did not write, and rows of other data, stay as they are without --replace. An id of .csv that a "
    "spreadsheet would run as a formula has ./ before it (a path) or ' (a text).",
    table, check_options,
    .work = embed, CLI_OPTIONS(out), .machine = true, .fill = store_defaults
};
