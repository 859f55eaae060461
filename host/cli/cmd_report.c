/* cmd_report.c - spotter report: the run of a study, or the findings of one or several models, as one HTML file. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "spotter/background.h"
#include "spotter/check.h"
#include "spotter/examine.h"
#include "spotter/report.h"
#include "spotter/work.h"

enum { MODELS = 16, LONGEST = 1000 };

typedef struct {
    cli_machine machine;
    cli_rest dir;
    const char *out, *trend, *images, *model_name[CLI_PAGE_MODELS];
    spot_report_options o;
} report_flags, cli_flags;

static const cli_row table[] = {
    { .word = "DIR", .kind = CLI_REST, CLI_AT(dir), .most = MODELS },
    { "out",    'o', "FILE.html",  CLI_TEXT, CLI_AT(out), .preset = "report.html", .help = "file to write" },
    CLI_PAGE_ROWS(o),
    { "thumb",  0,   "PIXELS",     CLI_INT, CLI_AT(o.thumb), 16, 240, .flags = CLI_SHOWN, .help = "longer side of a picture" },
    { "images", 0,   "FOLDER",     CLI_TEXT, CLI_AT(images), .otherwise = "where the run saw them",
      .help = "folder of the pictures of findings or of shifts" },
    { "other-pictures", 0, NULL, CLI_ON, CLI_AT(o.other_pictures),
      .help = "shows what lies at the paths of a run on pictures, though it saw other files there or kept none" },
    { "trend",  0,   "FILE.jsonl", CLI_TEXT, CLI_AT(trend),
      .help = "page of the numbers night by night, from the history of `spotter check`" },
    CLI_MACHINE_ROWS("cpu"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    const report_flags *o = input;

    if (o->dir.n && o->trend) argp_error(state, "--trend takes no run directory, but \"%s\" is given", o->dir.word[0]);
    if (o->dir.n && o->o.models > o->dir.n)
        argp_error(state, "--model-name is given %d times, for %d folder%s", o->o.models, o->dir.n, o->dir.n > 1 ? "s" : "");
    if (!o->dir.n && !o->trend) argp_error(state, "DIR is missing; for example: runs/quickstart");
    for (int i = 0; i < o->dir.n; i++)
        if (strlen(o->dir.word[i]) > LONGEST) argp_error(state, "the name of a directory is longer than %d bytes", LONGEST);
}

/* Whether the folder holds complete findings of spotter discover. */
static bool has_findings(const char *dir)
{
    char path[LONGEST + 16];
    struct stat st;

    snprintf(path, sizeof path, "%s/slices.json", dir);
    return !stat(path, &st);
}

/* The last part of a path, for people; the whole path where that says nothing. */
static const char *folder_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    return *name && strcmp(name, ".") && strcmp(name, "..") ? name : path;
}

/* Models without a name have that of their folder, if there are several; folders of one name have their paths. */
static void name_models(report_flags *o)
{
    bool same = false;

    o->o.model = o->model_name;
    if (o->dir.n < 2) return;
    for (int i = 0; i < o->dir.n; i++)
        for (int k = 0; k < i; k++) same = same || !strcmp(folder_name(o->dir.word[i]), folder_name(o->dir.word[k]));
    for (; o->o.models < o->dir.n && o->o.models < MODELS; o->o.models++)
        o->model_name[o->o.models] = same ? o->dir.word[o->o.models] : folder_name(o->dir.word[o->o.models]);
}

static spot_status report_findings(spot_ctx *c, report_flags *o)
{
    spot_subject s[MODELS];
    spot_findings f[MODELS];
    spot_discover_options d[MODELS];
    const spot_subject *subject[MODELS] = { NULL };
    const spot_findings *findings[MODELS] = { NULL };
    const spot_discover_options *how[MODELS] = { NULL };
    spot_status status = SPOT_OK;
    int read = 0;

    name_models(o);
    for (; read < o->dir.n && status == SPOT_OK; read++) {
        subject[read] = &s[read];
        findings[read] = &f[read];
        how[read] = &d[read];
        status = spot_findings_read(c, o->dir.word[read], &s[read], &f[read], &d[read]);
    }
    if (status == SPOT_OK && o->images) status = spot_findings_pictures(c, &s[0], o->images);      /* the page shows these */
    if (status == SPOT_OK) status = spot_report_findings(c, o->out, o->dir.n, subject, findings, how, &o->o);
    while (read--) {
        spot_findings_close(&f[read]);
        spot_subject_close(&s[read]);
    }
    return status;
}

static spot_status report_any(spot_ctx *c, report_flags *o)
{
    const spot_study *study = NULL;
    int found = 0, other = 0;

    if (o->trend) return spot_report_trend(c, o->out, o->trend);
    for (int i = 0; i < o->dir.n; i++) {
        if (has_findings(o->dir.word[i])) found++;
        else other = i;
    }
    if (!found && o->dir.n == 1) SPOT_TRY(cli_study_of(c, &study, o->dir.word[0]));
    if (study == &spot_shifts_study) return spot_report_shifts(c, o->out, o->dir.word[0], o->images, &o->o);
    if (study == &spot_background_study && o->images)
        return spot_fail(c, SPOT_USAGE, "--images is for findings and for shifts; where the pictures of backgrounds are "
                         "stands in %s/config.yaml, whose paths may be changed", o->dir.word[0]);
    if (study == &spot_background_study) return spot_report_background(c, o->out, o->dir.word[0], &o->o);
    if (study == &spot_examine_study) return spot_report_examine(c, o->out, o->dir.word[0], &o->o);
    if (!found && o->dir.n == 1) return spot_report_run(c, o->out, o->dir.word[0], &o->o);
    if (found < o->dir.n)
        return spot_fail(c, SPOT_USAGE, "%s holds no findings of `spotter discover`; a page shows one run of "
                         "`spotter sweep`, `spotter background`, `spotter examine` or `spotter shifts`, or one or several "
                         "folders of findings",
                         o->dir.word[other]);
    return report_findings(c, o);
}

static spot_status write_report(spot_ctx *c, void *input)
{
    report_flags *o = input;

    SPOT_TRY(spot_report_place(c, o->out, "choose another name"));
    SPOT_TRY(report_any(c, o));
    spot_log(c, SPOT_LOG_INFO, "%s", o->out);
    return SPOT_OK;
}

static void store_defaults(void *input)
{
    report_flags *o = input;

    o->o = spot_report_defaults();
}

const cli_command cli_report_command = {
    "report", "one HTML file from a run or from findings", "DIR [DIR...]",
    "  spotter report runs/quickstart -o quickstart.html\n"
    "  spotter report runs/paper -o paper.html --budget 40\n"
    "  spotter report found_v1 found_v2 --model-name v1 --model-name v2 -o two.html\n"
    "  spotter report found --title \"Clip art\" --data-name \"held-out half\" \\\n"
    "      --matte white -o clip_art.html\n"
    "  spotter report runs/shifts -o shifts.html\n"
    "  spotter report runs/background -o background.html\n"
    "  spotter report runs/examine -o examine.html\n"
    "  spotter report --trend nights.jsonl -o nights.html",
    "Writes one HTML file that needs no network and no server. Of a run of `spotter sweep`: DR and FDR of the methods, "
    "figures, and the map of each EC with its true blindspots and those that every method found. Of a run of `spotter shifts`: "
    "the cost of each shift, figures, pictures at the thresholds. Of a run of "
    "`spotter background`: accuracies on exchanged backgrounds, the worst pairs of an object and a background, matrices. Of "
    "a run of `spotter examine`: p against renders spent, failing renders, maps of failure, findings in words. Of "
    "folders of `spotter discover`: the findings; several folders on the same rows stand side by side, with each model's error "
    "rate on the slices of the others and the overlap of their slices.", table, check_options,
    .work = write_report, CLI_OPTIONS(out), .machine = true, .fill = store_defaults
};
