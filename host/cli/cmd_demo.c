/* cmd_demo.c - spotter demo: the findings of a classifier whose blindspots are known, without any file of the user's.
 *
 *     DIR/pictures/          drawn from the config inside the program, with rows.csv, their attributes
 *     DIR/view.safetensors   what a classifier of configs/quickstart.yaml says of them (tools/demo_view)
 *     DIR/rows.yaml          both, as `spotter discover DIR/rows.yaml` reads them
 *     DIR/found/             the findings, with the page report.html */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/demo_truth.h"
#include "cli/embedded.h"
#include "cli/slice_words.h"
#include "formats/safetensors.h"
#include "spotter/report.h"
#include "store/store.h"
#include "worlds/scene_files.h"

enum { PATH = 1200, ROWS = 600 };

typedef struct {
    cli_machine machine;
    const char *out;
    char rows[PATH], found[PATH];
} demo_flags, cli_flags;

static const cli_row table[] = {
    { "out", 'o', "DIR", CLI_TEXT, CLI_AT(out), .most = 1000, .preset = "spotter-demo",
      .help = "folder for pictures, rows and findings: new, empty or an earlier demo's" },
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static const char rows_file[] =
    "# spotter demo: the rows of a classifier whose blindspots are known; `spotter discover` reads this file\n"
    "embeddings: view.safetensors:feature\n"
    "labels: view.safetensors:label\n"
    "probs: view.safetensors:confidence\n"
    "images: pictures\n"
    "ids: pictures/rows.csv:file\n"
    "attributes: pictures/rows.csv:file\n";

/* ---- the rows ---- */

/* Other files than an earlier demo's stay as they are. */
static spot_status check_folder(spot_ctx *c, const demo_flags *o)
{
    char head[sizeof rows_file];
    const struct dirent *entry;
    DIR *d = opendir(o->out);
    int others = 0;

    if (!d) return SPOT_OK;                        /* it is made, or the first file says why not */
    while ((entry = readdir(d))) others += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(d);
    if (!others || (spot_file_peek(o->rows, head, sizeof head) == (int)sizeof rows_file - 1 &&
                    !memcmp(head, rows_file, sizeof rows_file - 1))) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{demo.folder} %s holds other files than a demo's; choose another folder by --out", o->out);
}

static spot_status read_numbers(spot_ctx *c, int number[ROWS])
{
    spot_tensors t;
    const spot_tensor *image;
    spot_status how = SPOT_OK;

    SPOT_TRY(spot_tensors_parse(c, &t, cli_demo_view, cli_demo_view_size, "the demo's view"));
    image = spot_tensors_find(&t, "image");
    if (!image || image->type != SPOT_I32 || image->bytes != ROWS * sizeof *number)
        how = spot_fail(c, SPOT_INVALID, "the demo's view has no %d numbers of images", ROWS);
    else memcpy(number, image->data, image->bytes);
    spot_tensors_close(&t);
    return how;
}

/* Calls `work` with the EC of the demo. */
typedef spot_status ec_work(spot_ctx *c, const demo_flags *o, const spot_ec *ec, const int number[ROWS]);

static spot_status with_ec(spot_ctx *c, const demo_flags *o, ec_work *work)
{
    spot_config cfg = spot_config_defaults();
    spot_source source;
    int number[ROWS];
    spot_status how = read_numbers(c, number);
    spot_ec ec;

    if (how == SPOT_OK)
        how = cli_config_of(c, &cfg, (const char *)cli_demo_config, cli_demo_config_size, "configs/quickstart.yaml");
    if (how == SPOT_OK) {
        how = spot_source_open(c, &source, &cfg);
        if (how == SPOT_OK) how = spot_source_ec(c, &ec, &source, 0);
        if (how == SPOT_OK) how = work(c, o, &ec, number);
        spot_source_close(&source);
    }
    spot_memory_close(&cfg.memory);
    return how;
}

static spot_status write_rows(spot_ctx *c, const demo_flags *o, const spot_ec *ec, const int number[ROWS])
{
    char path[PATH];

    snprintf(path, sizeof path, "%s/pictures", o->out);
    SPOT_TRY(spot_folder_make(c, path));
    SPOT_TRY(spot_file_write(c, o->rows, rows_file, sizeof rows_file - 1));
    spot_log(c, SPOT_LOG_INFO, "draws %d pictures in %s", ROWS, path);
    SPOT_TRY(spot_scene_rows(c, path, ec, SPOT_TEST, number, ROWS));
    snprintf(path, sizeof path, "%s/view.safetensors", o->out);
    return spot_file_write(c, path, cli_demo_view, cli_demo_view_size);
}

static spot_status make_rows(spot_ctx *c, const demo_flags *o)
{
    SPOT_TRY(check_folder(c, o));
    return with_ec(c, o, write_rows);
}

/* ---- the truth ---- */

static void print_lines(char *text)
{
    printf("\n");
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) cli_wrap(line);
}

static spot_status write_page(spot_ctx *c, const demo_flags *o, const char *note, const spot_subject *s, const spot_findings *f,
                              const spot_discover_options *d)
{
    spot_report_options page = spot_report_defaults();
    char path[PATH + 16];

    page.title = "Blindspots of a classifier whose truth is known";
    page.data = "600 pictures that Spotter drew itself (spotter demo)";
    page.note = note;
    snprintf(path, sizeof path, "%s/report.html", o->found);
    SPOT_TRY(spot_report_place(c, path, "choose another folder by --out"));
    SPOT_TRY(spot_report_findings(c, path, 1, &s, &f, &d, &page));
    cli_log_close();
    return SPOT_OK;
}

static spot_status compare(spot_ctx *c, const demo_flags *o, const spot_ec *ec, const int number[ROWS])
{
    spot_discover_options d;
    spot_text note = { 0 };
    spot_findings f;
    spot_subject s;
    spot_status how;
    int found;

    SPOT_TRY(spot_findings_read(c, o->found, &s, &f, &d));
    how = s.n == ROWS ? cli_demo_truth(c, &note, &found, ec, number, &f, &s)
        : spot_fail(c, SPOT_INPUT, "{demo.rows} %s has %d rows, and the demo has %d; choose another folder by --out", o->found,
                    s.n, ROWS);
    if (how == SPOT_OK) spot_text_add(&note, "", 1);
    if (how == SPOT_OK) how = note.status;
    if (how == SPOT_OK) how = write_page(c, o, note.bytes, &s, &f, &d);
    if (how == SPOT_OK) {
        print_lines(note.bytes);
        printf("\nthe page: %s/report.html\n", o->found);
        printf("the search again: %s discover %s --out %s-again\n", cli_program, o->rows, o->found);
    }
    spot_text_free(&note);
    spot_findings_close(&f);
    spot_subject_close(&s);
    return how;
}

static spot_status tell_truth(spot_ctx *c, const demo_flags *o) { return with_ec(c, o, compare); }

/* ---- the command ---- */

static int step(const demo_flags *o, spot_status (*work)(spot_ctx *c, const demo_flags *o))
{
    spot_ctx c;
    spot_status s = cli_open(&c, &o->machine);

    if (s == SPOT_OK) s = work(&c, o);
    return cli_close(&c, s);
}

/* The search is the command that users run, on the demo's rows. */
static int search(demo_flags *o)
{
    char name[] = "spotter discover", out[] = "--out", replace[] = "--replace", bare[] = "--no-report", threads[32], device[32];
    char log[] = "--log=json";
    char *words[] = { name, o->rows, out, o->found, replace, bare, threads, device, o->machine.log_json ? log : NULL, NULL };

    snprintf(threads, sizeof threads, "--threads=%d", o->machine.threads);
    snprintf(device, sizeof device, "--device=%s", o->machine.device);
    return cli_run(&cli_discover_command, o->machine.log_json ? 9 : 8, words);
}

static int run_demo(int argc, char **argv)
{
    demo_flags o = { 0 };
    int code;

    cli_parse(&cli_demo_command, argc, argv, &o, NULL);
    snprintf(o.rows, sizeof o.rows, "%s/rows.yaml", o.out);
    snprintf(o.found, sizeof o.found, "%s/found", o.out);
    code = step(&o, make_rows);
    if (!code) code = search(&o);
    return code ? code : step(&o, tell_truth);
}

const cli_command cli_demo_command = {
    "demo", "a page of findings in seconds, without data of yours", "[--out DIR]",
    "  spotter demo\n"
    "  spotter demo --out first",
    "Draws 600 pictures, takes what a classifier with two planted blindspots says of them from the program itself, searches "
    "for its blindspots by `spotter discover`, and says on the terminal and on the page which of the planted ones are found. "
    "DIR/rows.yaml shows how rows are given to `spotter discover`.", table, .run = run_demo
};
