/* cmd_compare.c - spotter compare: two versions of a model. */
#include <string.h>

#include "cli/compare.h"
#include "versions/version_place.h"

typedef struct {
    cli_machine machine;
    cli_comparison compared;
    const char *a, *b, *rows;
} compare_flags, cli_flags;

static const cli_row table[] = {
    { .word = "A", .kind = CLI_TEXT, CLI_AT(a), .need = "found" },
    { .word = "B", .kind = CLI_TEXT, CLI_AT(b), .need = "probs_v2.npy" },
    { .word = "ROWS.yaml", .kind = CLI_ROWS_FILE, CLI_AT(rows), .from = &cli_discover_command },
    { "json", 'j', NULL, CLI_ON, CLI_AT(compared.json), .help = "one JSON object on stdout" },
    CLI_COMPARISON_ROWS(compared, 0),
    CLI_CI_REPLACE_ROW(compared.ci),
    CLI_CI_ROWS(compared.ci, 0),
    { "ids-b", 0, "I2", CLI_TEXT, CLI_AT(compared.from.second_ids), .flags = CLI_MORE,
      .help = "names of the rows of B, if they come in another order" },
    CLI_MACHINE_ROWS("cpu"),
    { .kind = CLI_END }
};

/* Runs are compared under their study: no option says how. */
static void refuse_rows(const struct argp_state *state, const char *run)
{
    static const char *const taken[] = { "json", "junit", "sarif", "summary", "replace", "margin", "fail-on", "device",
                                        "threads", "log" };

    for (const cli_row *row = table; row->kind; row++) {
        bool is_taken = !row->name;
        for (size_t i = 0; i < sizeof taken / sizeof *taken && !is_taken; i++) is_taken = !strcmp(row->name, taken[i]);
        if (!is_taken && cli_is_given(state, row->name))
            argp_error(state, "--%s is about findings and probabilities, and %s is a run", row->name, run);
    }
}

static void check_options(const struct argp_state *state, void *input)
{
    compare_flags *o = input;
    spot_version_files *f = &o->compared.from;
    const spot_version_kind a = spot_version_kind_of(o->a), b = spot_version_kind_of(o->b);

    if (a == SPOT_VERSION_RUN || b == SPOT_VERSION_RUN) refuse_rows(state, a == SPOT_VERSION_RUN ? o->a : o->b);
    if (a == SPOT_VERSION_FINDINGS && cli_is_from_file(state, "labels")) f->files.labels = NULL;       /* they have them */
    if (a == SPOT_VERSION_FINDINGS) f->found = o->a;
    else if (f->files.probs) argp_error(state, "%s and --probs both are probabilities of version 1; give one of them", o->a);
    else f->files.probs = o->a;
    f->second = o->b;
    if (o->compared.method && o->compared.config)
        argp_error(state, "--method and --config both choose the methods; give one of them");
    cli_ci_check(state, &o->compared.ci);
}

static spot_status compare(spot_ctx *c, compare_flags *o)
{
    const bool runs = spot_version_kind_of(o->a) == SPOT_VERSION_RUN;

    if (runs != (spot_version_kind_of(o->b) == SPOT_VERSION_RUN))
        return spot_fail(c, SPOT_USAGE, "%s is a run of a study, and %s is none; compare two runs, or findings and "
                         "probabilities", runs ? o->a : o->b, runs ? o->b : o->a);
    SPOT_TRY(cli_ci_begin(c, &o->compared.ci));
    return runs ? cli_compare_models(c, o->a, o->b, &o->compared) : cli_compare_rows(c, &o->compared);
}

static spot_status compare_versions(spot_ctx *c, void *input)
{
    compare_flags *o = input;

    cli_ci_take(&o->compared.ci, o->a);
    cli_ci_take(&o->compared.ci, o->rows);
    cli_comparison_take(&o->compared);
    return cli_ci_end(c, compare(c, o), &o->compared.ci, "compare", o->b);
}

static void store_defaults(void *input) { cli_comparison_defaults(&((compare_flags *)input)->compared); }

const cli_command cli_compare_command = {
    "compare", "two versions of a model, under any study", "A B [ROWS.yaml]",
    "  spotter compare found probs_v2.npy --html v2.html\n"
    "  spotter compare found_v1 found_v2\n"
    "  spotter compare p1.npy p2.npy -e e.npy -y y.npy --name v1,v2\n"
    "  spotter compare runs/version_1 runs/version_2\n"
    "  spotter compare runs/zoo:resnet runs/zoo:alexnet",
    "Compares version B with version A, and exits with 1 if something is worse. Probabilities of your classifier, and folders "
    "of `spotter discover`, are compared on the same rows: each confirmed blindspot of either version, and a slice that "
    "changed, is mended, better, same, worse, new, or pending where the rows cannot tell. A folder gives its rows' labels, "
    "features and methods; ROWS.yaml may hold --embeddings, --labels, --ids and --images, as for `spotter discover`. A run "
    "of `spotter background`, `examine` or `shifts` is DIR, or DIR:MODEL of several models: each number of the "
    "study is tested over the pictures, objects or classes that both runs have, against the same --margin.", table,
    check_options, .work = compare_versions, CLI_OPTIONS(a), .machine = true, .fill = store_defaults
};
