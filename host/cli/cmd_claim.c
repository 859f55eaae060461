/* cmd_claim.c - spotter claim: a claim of the user's own, judged on the rows of findings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/encoder_rows.h"
#include "discover/subject/attributes.h"
#include "discover/subject/fits.h"
#include "spotter/claim.h"

typedef struct {
    cli_machine machine;
    cli_encoder encoder;
    const char *found, *rule, *attributes, *weights, *cls;
    int most, seed;
    double level;
    bool fresh, json;
} claim_flags, cli_flags;

/* The findings, and the rows of the claim among theirs. */
typedef struct {
    spot_subject s;
    spot_findings f;
    spot_discover_options d;
    spot_attributes own;               /* of --attributes */
    const spot_attributes *a;
    spot_row_claim k;
} claimed_rows;

static const cli_row table[] = {
    { .word = "FOUND", .kind = CLI_TEXT, CLI_AT(found), .most = 1000, .need = "found" },
    { .word = "CLAIM", .kind = CLI_TEXT, CLI_AT(rule), .most = 1000, .need = "\"apps & colour=grey\"" },
    { "attributes", 0, "FILE", CLI_TEXT, CLI_AT(attributes), .most = 1000, .otherwise = "the attributes that FOUND keeps",
      .help = "table.csv with a record for each row, or table.csv:COLUMN with their ids; comparisons of numbers need it" },
    { "encoder", 0, "FILE", CLI_TEXT, CLI_AT(weights), .most = 1000,
      .help = "CLIP of the features of FOUND, in .safetensors; CLAIM is a sentence then, of the rows that are nearest to it" },
    { "class",   'c', "NAME", CLI_TEXT, CLI_AT(cls), .most = 250, .otherwise = "all rows",
      .help = "class of the rows of a sentence" },
    { "most",    0, "N", CLI_INT, CLI_AT(most), 1, 100000000, .preset = "40", .help = "rows nearest to the sentence" },
    { .kind = CLI_HEADING, .help = "The test:" },
    { "new",     0, NULL, CLI_ON, CLI_AT(fresh),
      .help = "the rows of FOUND were collected after the claim was made: one exact test without correction" },
    { "level",   0, "X", CLI_REAL, CLI_AT(level), 0.000001, 0.5, .preset = "0.05", .help = "significance level of the test" },
    { "seed",    's', "N", CLI_INT, CLI_AT(seed), 0, 2147483647, .preset = "0", .help = "seed of the draws" },
    { "json",    'j', NULL, CLI_ON, CLI_AT(json), .help = "the verdict as one JSON object on stdout" },
    CLI_ENCODER_TEXT_ROWS("", encoder),
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    const claim_flags *o = input;

    if (o->weights && o->attributes)
        argp_error(state, "a sentence has no attributes; give --encoder or --attributes, one of them");
    if (!o->weights && (o->cls || cli_is_given(state, "most")))
        argp_error(state, "--class and --most are of a sentence, which needs --encoder; a rule names its class: "
                   "\"cat & dark\"");
}

/* ---- the rows ---- */

static spot_status find_class(spot_ctx *c, int *cls, const claim_flags *o, const spot_subject *s)
{
    *cls = SPOT_ALL_CLASSES;
    for (int k = 0; o->cls && k < s->classes; k++)
        if (!strcmp(s->class_name[k], o->cls)) *cls = k;
    if (o->cls && *cls < 0) return spot_fail(c, SPOT_USAGE, "%s has no class \"%.200s\"", o->found, o->cls);
    return SPOT_OK;
}

static spot_status encode_claim(spot_ctx *c, claim_flags *o, const spot_subject *s, float *text)
{
    spot_encoder *e = NULL;
    spot_status how = cli_encoder_options(c, &o->encoder, "");

    if (how == SPOT_OK) how = spot_encoder_open(c, &e, o->weights, &o->encoder.o);
    if (how == SPOT_OK && (strcmp(spot_encoder_about(e)->name, s->encoder) || spot_encoder_about(e)->dim != s->d))
        how = spot_fail(c, SPOT_USAGE, "{claim.encoder} %s was not searched in features of %s (%s)%s%s; a sentence is compared "
                        "with these: spotter discover --embed %s, or with features that spotter embed made", o->found,
                        o->weights, spot_encoder_about(e)->name, *s->encoder ? " but of " : "", s->encoder, o->weights);
    if (how == SPOT_OK) how = spot_encode_texts(c, e, text, &o->rule, 1);
    spot_encoder_close(c, e);
    return how;
}

static spot_status read_sentence(spot_ctx *c, claim_flags *o, claimed_rows *x)
{
    const size_t d = (size_t)x->s.d;
    float *feature = malloc(((size_t)x->s.n + 1) * d * sizeof *feature), *text = feature + (size_t)x->s.n * d;
    spot_status how = feature ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the features of %d rows", x->s.n);
    int cls = SPOT_ALL_CLASSES;

    if (how == SPOT_OK) how = find_class(c, &cls, o, &x->s);
    if (how == SPOT_OK) how = encode_claim(c, o, &x->s, text);
    if (how == SPOT_OK) how = spot_fits_features(c, feature, &x->s, o->found);
    if (how == SPOT_OK) how = spot_row_claim_near(c, &x->k, &x->s, feature, text, x->s.d, o->most, cls);
    free(feature);
    return how;
}

static spot_status read_rule(spot_ctx *c, const claim_flags *o, claimed_rows *x)
{
    x->a = x->d.attributes;
    if (o->attributes) SPOT_TRY(spot_attributes_of_subject(c, &x->own, o->attributes, &x->s));
    if (o->attributes) x->a = &x->own;
    return spot_row_claim_read(c, &x->k, &x->s, x->a, o->attributes, o->rule);
}

/* ---- the verdict ---- */

static const char *plain(char text[1100], const char *from)
{
    snprintf(text, 1100, "%s", from);
    return spot_plain(text);
}

/* Words of the shell. */
static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        if (*text == '\'') fputs("'\\''", stdout);
        else putchar((unsigned char)*text < ' ' ? '?' : *text);
    putchar('\'');
}

static void print_numbers(const spot_row_claim *k)
{
    printf("%d of %d rows wrong, %.1f %%; their class%s: %.1f %%", k->wrong, k->rows, 100.0 * k->wrong / k->rows,
           k->cls < 0 ? "es" : "", 100 * k->class_rate);
    if (k->groups) printf("; %d groups", k->groups);
    if (isfinite(k->excess.low))
        printf("; excess %+.1f %% (95 %%: %+.1f to %+.1f)", 100 * k->excess.value, 100 * k->excess.low, 100 * k->excess.high);
    printf("\n%s: p = %.3g", spot_claim_name(k->verdict), isfinite(k->corrected) ? k->corrected : k->p);
    if (isfinite(k->corrected))
        printf(", corrected for all %.0f rules of at most two items%s", k->rules, k->draws ? "" : " (Bonferroni)");
    printf(" (%.3g of this claim alone)\n", k->p);
}

static void print_next(const claim_flags *o, const claimed_rows *x)
{
    if (x->k.verdict == SPOT_CLAIM_CONFIRMED || x->k.excess.value <= 0) return;
    if (x->k.mixed && x->k.cls < 0)
        printf("a group has rows of several classes, so that a claim on rows of all is not confirmed; name a class\n");
    if (o->fresh) return;
    if (!x->k.listed)
        printf("a claim of more than two items of the table, or of other conditions, on rows that were shown is not confirmed "
               "by them\n");
    if (x->k.thirds)
        printf("a third of these rows' numbers is another one of new rows: write it as a comparison, such as px <= 22\n");
    printf("test it on new rows: spotter discover NEW.yaml --out new && spotter claim new ");
    print_quoted(o->rule);
    if (o->attributes) fputs(" --attributes NEW.csv", stdout);
    if (o->weights) printf(" --encoder "), print_quoted(o->weights);
    if (o->weights && o->cls) printf(" --class "), print_quoted(o->cls);
    if (o->weights) printf(" --most %d", o->most);
    fputs(" --new\n", stdout);
}

static spot_status print_json(spot_ctx *c, const claim_flags *o, const claimed_rows *x)
{
    const spot_row_claim *k = &x->k;
    spot_json j;

    SPOT_TRY(cli_json_open(c, &j, SPOT_OK, NULL));
    spot_json_put_text(&j, "claim", o->rule);
    spot_json_put_text(&j, "findings", o->found);
    spot_json_put_text(&j, "class", k->cls < 0 ? NULL : x->s.class_name[k->cls]);
    spot_json_put_text(&j, "verdict", spot_claim_name(k->verdict));
    spot_json_put_int(&j, "rows", k->rows);
    spot_json_put_int(&j, "wrong", k->wrong);
    if (k->groups) spot_json_put_int(&j, "groups", k->groups);
    spot_json_put_real(&j, "rate", (double)k->wrong / k->rows);
    spot_json_put_real(&j, "class_rate", k->class_rate);
    spot_json_put_real(&j, "excess", k->excess.value);
    spot_json_put_real(&j, "excess_low", k->excess.low);
    spot_json_put_real(&j, "excess_high", k->excess.high);
    spot_json_put_real(&j, "p", k->p);
    spot_json_put_real(&j, "corrected_p", k->corrected);
    spot_json_put_real(&j, "rules", k->rules);
    spot_json_put_int(&j, "draws", k->draws);
    if (k->groups) spot_json_put_int(&j, "mixed_groups", k->mixed);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}

static spot_status judge_claim(spot_ctx *c, claim_flags *o, claimed_rows *x)
{
    char text[1100];

    SPOT_TRY(o->weights ? read_sentence(c, o, x) : read_rule(c, o, x));
    SPOT_TRY(spot_row_claim_judge(c, &x->k, &x->s, x->a, &(spot_row_claim_options){ o->level, (uint64_t)o->seed, o->fresh }));
    if (o->json) return print_json(c, o, x);
    printf("claim: fails more often on \"%s\"", plain(text, o->rule));
    if (o->weights) printf(", the %d nearest rows", x->k.rows);
    if (x->k.cls >= 0) printf(", class %s", plain(text, x->s.class_name[x->k.cls]));
    putchar('\n');
    print_numbers(&x->k);
    print_next(o, x);
    return SPOT_OK;
}

static spot_status test_claim(spot_ctx *c, void *input)
{
    claim_flags *o = input;
    claimed_rows x = { .k = { .in = NULL } };
    spot_status how;

    SPOT_TRY(cli_study_for(c, NULL, o->found, "claim", "discover"));
    SPOT_TRY(spot_findings_read(c, o->found, &x.s, &x.f, &x.d));
    how = judge_claim(c, o, &x);
    spot_row_claim_close(&x.k);
    spot_attributes_close(&x.own);
    spot_findings_close(&x.f);
    spot_subject_close(&x.s);
    return how;
}

static void store_defaults(void *input) { cli_encoder_defaults(&((claim_flags *)input)->encoder); }

const cli_command cli_claim_command = {
    "claim", "your own claim about rows on which the classifier fails, judged", "FOUND CLAIM",
    "  spotter claim found \"apps & colour=grey\"\n"
    "  spotter claim found \"class=apps & px=low\"\n"
    "  spotter claim found \"brightness<0.2\" --attributes table.csv:id\n"
    "  spotter claim found \"a dark photo of a dog\" --encoder clip.safetensors \\\n"
    "      --class dog\n"
    "  spotter claim new \"apps & colour=grey\" --new",
    "The claim is that the classifier fails more often on these rows than on those of their class. FOUND is a folder of "
    "spotter discover. Conditions stand between &: a class, an item of the table (a value of words, \"not\" a flag, a third of "
    "numbers), or a comparison of a column of numbers. A name with & in it stands between double "
    "quotes. A rule of at most two items is corrected for all such rules at once, so it does not matter which of them you "
    "looked at before: confirmed, suggested or chance. Any other claim on rows that were "
    "shown is at most suggested. --new says that the rows were collected after the claim was made; then any claim is tested by "
    "itself. The exit code is 0 whatever the verdict.",
    table, check_options, .work = test_claim, CLI_OPTIONS(found), .machine = true, .fill = store_defaults
};
