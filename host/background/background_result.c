/* background_result.c - the result of a model as memory and as JSON. */
#include "background/background_result.h"

#include <stdlib.h>
#include <string.h>

#include "study/frame.h"

const char *spot_background_set_name(int set)
{
    static const char *const name[SPOT_BACKGROUND_SETS] = { "original", "only-fg", "no-fg", "mixed-same", "mixed-rand",
                                                            "mixed-next", "plain", "noise", "blurred", "only-bg-b",
                                                            "only-bg-t", "noise-fg", "noise-bg", "suite" };

    return set >= 0 && set < SPOT_BACKGROUND_SETS ? name[set] : "";
}

const char *spot_background_matrix_name(int matrix)
{
    static const char *const name[SPOT_BACKGROUND_MATRICES] = { "confidence", "top neurons of the object", "greatest neuron",
                                                                "mean of neurons" };

    return matrix >= 0 && matrix < SPOT_BACKGROUND_MATRICES ? name[matrix] : "";
}

enum { MOST_CLASSES = 1000000 };

bool spot_background_result_take(spot_background_result *r)
{
    const size_t n = (size_t)r->classes + 1;
    bool whole = true;

    for (int k = 0; k < SPOT_BACKGROUND_SETS && whole; k++)
        whole = (r->count[k] = calloc(n, sizeof **r->count)) && (r->right[k] = calloc(n, sizeof **r->right));
    return whole && (r->turned = calloc(n, sizeof *r->turned)) && (r->steady = calloc(n, sizeof *r->steady));
}

void spot_background_result_close(void *result)
{
    spot_background_result *r = result;

    for (int k = 0; k < SPOT_BACKGROUND_SETS; k++) free(r->count[k]), free(r->right[k]);
    free(r->turned), free(r->steady);
    memset(r, 0, sizeof *r);
}

/* ---- counts ---- */

void spot_background_count(spot_background_result *u, const spot_background_responses *r, const spot_background_suite *s)
{
    for (int t = 0; t < s->targets; t++) {
        const int cls = s->cls[t], *answer = r->answer + (size_t)t * (size_t)(s->n + 1);
        int wrong = 0;
        for (int k = 0; k < SPOT_SET_SUITE; k++) {
            const int a = r->derived[(size_t)t * SPOT_BACKGROUND_SETS + (size_t)k];
            if (a == -2) continue;
            u->count[k][cls]++;
            u->right[k][cls] += a == cls;
        }
        for (int j = 1; j <= s->n; j++) wrong += answer[j] != cls;
        u->count[SPOT_SET_SUITE][cls] += s->n;
        u->right[SPOT_SET_SUITE][cls] += s->n - wrong;
        u->turned[cls] += answer[0] == cls && wrong;
        u->steady[cls] += answer[0] == cls && !wrong;
    }
}

/* ---- JSON ---- */

static void describe_counts(spot_json *j, spot_background_result *r)
{
    spot_json_object(j, "sets");
    for (int k = 0; k < SPOT_BACKGROUND_SETS; k++) {
        spot_json_object(j, spot_background_set_name(k));
        spot_json_ints(j, "count", r->count[k], r->classes);
        spot_json_ints(j, "right", r->right[k], r->classes);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_ints(j, "turned", r->turned, r->classes);
    spot_json_ints(j, "steady", r->steady, r->classes);
}

static void describe_features(spot_json *j, spot_background_result *r)
{
    if (spot_json_exactly(j, "matrices", SPOT_BACKGROUND_MATRICES))
        for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++) {
            spot_json_object(j, NULL);
            spot_json_bool(j, "there", &r->has[k]);
            spot_json_reals(j, "features", r->feature[k], SPOT_BACKGROUND_FEATURES);
            spot_json_end(j);
        }
    spot_json_end(j);
    spot_json_reals(j, "coverage", r->coverage, SPOT_COVERAGES);
}

/* Counts that contradict each other would make shares above 1; the suite's key is a part of a path. */
static bool are_sound(const spot_background_result *r)
{
    bool good = r->targets > 0 && r->n > 0 && r->n <= SPOT_MAX_BACKGROUNDS && strspn(r->suite, "0123456789abcdef") == 32;

    for (int i = 0; i < r->classes && good; i++) {
        const int seen = r->count[SPOT_SET_ORIGINAL][i], right = r->right[SPOT_SET_ORIGINAL][i];
        for (int k = 0; k < SPOT_BACKGROUND_SETS && good; k++)
            good = r->right[k][i] >= 0 && r->right[k][i] <= r->count[k][i]
                && r->count[k][i] <= (k == SPOT_SET_SUITE ? (long long)seen * r->n : seen);
        good = good && r->turned[i] >= 0 && r->steady[i] >= 0 && r->turned[i] + r->steady[i] == right && seen <= r->targets;
    }
    return good;
}

void spot_background_result_describe(spot_json *j, void *result)
{
    spot_background_result *r = result;

    spot_json_int(j, "index", &r->index);
    spot_json_int(j, "numbers", &r->numbers);
    spot_json_text(j, "config", r->config, sizeof r->config);
    spot_json_text(j, "suite", r->suite, sizeof r->suite);
    spot_json_text(j, "inputs", r->inputs, sizeof r->inputs);
    spot_json_text(j, "name", r->name, sizeof r->name);        /* the config may hold any text */
    spot_frame_plain(j, "identity", r->identity, sizeof r->identity);
    spot_json_int(j, "classes", &r->classes);
    spot_json_int(j, "targets", &r->targets);
    spot_json_int(j, "n", &r->n);
    spot_json_int(j, "outputs", &r->outputs);
    spot_json_int(j, "dim", &r->dim);
    spot_json_int(j, "channels", &r->channels);
    spot_json_int(j, "left_out", &r->left_out);
    if (!j->gen && (r->classes < 1 || r->classes > MOST_CLASSES)) j->wrong = j->wrong ? j->wrong : "classes";
    if (j->wrong) return;
    if (!j->gen && !spot_background_result_take(r)) {
        j->wrong = spot_frame_no_memory;
        return;
    }
    describe_counts(j, r);
    describe_features(j, r);
    if (!j->gen && !j->wrong && !are_sound(r)) j->wrong = "sets";
}
