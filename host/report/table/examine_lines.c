/* examine_lines.c - see examine_lines.h. */
#include "report/table/examine_lines.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/model.h"

const int spot_examine_paper_T[SPOT_EXAMINE_PAPER_POINTS] = { 0, 100, 300, 500 };

const char *spot_examine_table_title(int table, int mode)
{
    static const char *const title[SPOT_EXAMINE_TABLES] = {
        "Table 1 (the paper's Table 2). Mean p of the true class of the last renders",
        "Table 2 (the paper's Table 3). Mean p by m, the training renders of each object",
        "Table 3. Lowest p on valid renders, its robust value, and where the renders lie"
    };

    if (table == 3 && mode == SPOT_MODE_STRENGTH)
        return "Table 3. Highest p on valid renders, its robust value, and where the renders lie";
    return table >= 1 && table <= SPOT_EXAMINE_TABLES ? title[table - 1] : "";
}

/* ---- families ---- */

static bool is_trained(const spot_examine_model *m) { return !m->weights[0] && !m->command[0]; }

/* Bytes of the name before its last digits. */
static size_t stem(const char *name)
{
    size_t n = strlen(name);

    while (n && isdigit((unsigned char)name[n - 1])) n--;
    return n;
}

static bool are_kin(const spot_examine_model *a, const spot_examine_model *b)
{
    const size_t n = stem(a->name);

    return is_trained(a) && is_trained(b) && a->arch == b->arch && a->width == b->width && n == stem(b->name)
        && !memcmp(a->name, b->name, n);
}

static void sort_family(spot_examine_family *f, const spot_examine_config *cfg)
{
    for (int i = 1; i < f->models; i++)
        for (int k = i; k > 0 && cfg->model[f->model[k]].renders < cfg->model[f->model[k - 1]].renders; k--) {
            const int model = f->model[k];
            f->model[k] = f->model[k - 1], f->model[k - 1] = model;
        }
}

int spot_examine_families(spot_examine_family *family, const spot_examine_config *cfg)
{
    bool taken[SPOT_MAX_EXAMINED_MODELS] = { false };
    int n = 0;

    for (int i = 0; i < cfg->models; i++) {
        spot_examine_family *f = &family[n];
        bool differ = false;
        *f = (spot_examine_family){ 0 };
        for (int k = i; k < cfg->models; k++) {
            if (taken[k] || (k > i && !are_kin(&cfg->model[i], &cfg->model[k]))) continue;
            differ |= cfg->model[k].renders != cfg->model[i].renders;
            f->model[f->models++] = k;
        }
        if (taken[i] || !differ) continue;
        for (int k = 0; k < f->models; k++) taken[f->model[k]] = true;
        snprintf(f->name, sizeof f->name, "%.*s", (int)stem(cfg->model[i].name), cfg->model[i].name);
        sort_family(f, cfg);
        n++;
    }
    return n;
}

void spot_examine_training(char *words, size_t size, const spot_examine_config *cfg, const spot_examine_family *f)
{
    const spot_examine_model *first = &cfg->model[f->model[0]];
    bool steps = true, epochs = true;

    for (int i = 0; i < f->models; i++) {
        const spot_examine_model *m = &cfg->model[f->model[i]];
        steps &= m->steps > 0 && m->steps == first->steps;
        epochs &= m->steps == 0 && m->epochs == first->epochs;
    }
    if (steps) snprintf(words, size, "%d training steps each", first->steps);
    else if (epochs) snprintf(words, size, "%d training epochs each, as in the paper: a smaller m also has fewer steps",
                              first->epochs);
    else snprintf(words, size, "they differ in how long they are trained, too");
}

/* ---- the paper ---- */

int spot_examine_paper_renders(const spot_examiner_config *e, int T)
{
    switch (e->method) {
    case SPOT_EXAMINER_RL: return T * e->rl.batch;
    case SPOT_EXAMINER_BO2019: case SPOT_EXAMINER_BO: return T;
    default: return 0;
    }
}

int spot_examine_point_at(const spot_examine_results *r, const spot_examine_summary *s, int renders)
{
    const spot_examine_config *cfg = r->cfg;
    const spot_examine_result *u = &r->unit[(s->model * cfg->examiners + s->examiner) * cfg->search.seeds * r->objects];
    int best = -1;

    for (int k = 0; k < u->points; k++) {
        const int off = abs(u->point[k].asked - renders);
        if (10 * off <= renders && (best < 0 || off < abs(u->point[best].asked - renders))) best = k;
    }
    return best;
}

/* Rows of a paper's table: AlexNet or ResNet-34; -1: another network. */
static int row_of(int arch) { return arch == SPOT_ARCH_ALEXNET ? 0 : arch == SPOT_ARCH_RESNET34 ? 1 : -1; }

static int method_of(int method)
{
    return method == SPOT_EXAMINER_RL ? 0 : method == SPOT_EXAMINER_BO || method == SPOT_EXAMINER_BO2019 ? 1 : -1;
}

double spot_examine_paper_mean(int arch, int method, int T)
{
    static const double mean[2][2][SPOT_EXAMINE_PAPER_POINTS] = {
        { { .6398, .6591, .1892, .0227 }, { .6005, .4358, .2998, .2543 } },
        { { .6903, .6858, .3886, .1313 }, { .6419, .5489, .4807, .4555 } },
    };
    const int row = row_of(arch), by = method_of(method);

    for (int k = 0; k < SPOT_EXAMINE_PAPER_POINTS && row >= 0 && by >= 0; k++)
        if (T == spot_examine_paper_T[k]) return mean[row][by][k];
    return NAN;
}

double spot_examine_paper_by_m(int arch, int method, int m)
{
    static const int known[] = { 1, 2, 5, 10 };
    static const double mean[2][4] = { { .1892, .3505, .5743, .6381 }, { .1092, .2219, .4306, .4979 } };
    const int by = method_of(method);

    for (int k = 0; k < 4 && arch == SPOT_ARCH_RESNET34 && by >= 0; k++)
        if (m == known[k]) return mean[by][k];
    return NAN;
}
