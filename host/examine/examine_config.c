/* examine_config.c - the config of an examination: read, printed, and checks that involve several of its settings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examine/examine_config.h"
#include "models/foreign_model.h"
#include "models/picture_input.h"
#include "study/config_input.h"

/* ---- ranges and points ---- */

static const double range[SPOT_FACTORS][2] = {
#define X(NAME, name, symbol, unit, least, most, turns) { least, most },
    SPOT_FACTOR_TABLE(X)
#undef X
};

double spot_factor_least(int factor) { return range[factor][0]; }
double spot_factor_most(int factor)  { return range[factor][1]; }

static void add_point(spot_examine_search *s, int renders)
{
    if (renders > 0 && (!s->points || renders > s->point[s->points - 1])) s->point[s->points++] = renders;
}

bool spot_examine_points(spot_examine_search *s)
{
    static const int share[] = { 10, 5, 2, 1 };
    const char *at = s->curve;

    s->points = 0;
    for (int i = 0; i < 4 && !s->curve[strspn(s->curve, " ")]; i++)
        if (s->renders / share[i] > s->perturbed) add_point(s, s->renders / share[i]);
    if (s->points) return true;
    while (s->points < SPOT_MAX_EXAMINE_POINTS) {
        char *end;
        const long n = strtol(at, &end, 10);
        if (n < 1 || n > s->renders || (s->points && n <= s->point[s->points - 1])) return false;
        s->point[s->points++] = (int)n;
        at = end + strspn(end, " ");
        if (*at != ',') break;
        at++;
    }
    return !*at && s->point[s->points - 1] == s->renders;
}

spot_examine_search spot_examine_search_of(const spot_examine_config *cfg, const spot_examiner_config *e)
{
    spot_examine_search s = cfg->search;

    if (!e->renders && !e->points[0]) return s;
    if (e->renders) s.renders = e->renders;
    s.curve = e->points;
    spot_examine_points(&s);
    return s;
}

/* A bound that may be open, with the paper's in its place. */
static double bound(double value, double paper) { return value == SPOT_EXAMINE_OPEN ? paper : value; }

/* Puts the paper's ranges where a config leaves them open. */
static void close_ranges(spot_examine_config *cfg)
{
    for (int i = 0; i < cfg->factors; i++) {
        spot_examine_factor *f = &cfg->factor[i];
        f->least = bound(f->least, range[f->factor][0]), f->most = bound(f->most, range[f->factor][1]);
    }
    for (int m = 0; m < cfg->models; m++)
        for (int i = 0; i < cfg->model[m].limits; i++) {
            spot_examine_limit *l = &cfg->model[m].limit[i];
            const double most = range[l->factor][1], least = range[l->factor][0];
            l->least = bound(l->least, l->absolute ? 0 : least);
            l->most = bound(l->most, l->absolute ? fmax(fabs(least), fabs(most)) : most);
        }
}

/* ---- checks ---- */

static bool is_file_name(const char *name)
{
    return name[0] && name[0] != '.'
        && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
}

static spot_status check_limits(spot_reading *r, const spot_examine_model *m, int i, int line)
{
    for (int k = 0; k < m->limits; k++)
        if (m->limit[k].least != SPOT_EXAMINE_OPEN && m->limit[k].most != SPOT_EXAMINE_OPEN
            && !(m->limit[k].least < m->limit[k].most))
            return spot_refuse(r, line, "{models.region} models[%d].region[%d] is from %g to %g, which holds nothing", i, k,
                               m->limit[k].least, m->limit[k].most);
    return SPOT_OK;
}

static spot_status check_model(spot_reading *r, const spot_examine_config *cfg, int i, int line)
{
    const spot_examine_model *m = &cfg->model[i];

    if (!m->name[0]) return spot_refuse(r, line, "{models.no_name} models[%d] has no name", i);
    for (int k = 0; k < i; k++)
        if (!strcmp(m->name, cfg->model[k].name)) return spot_refuse(r, line, "{models.name_twice} two models are called "
                                                                     "\"%s\"", m->name);
    if (m->weights[0] && m->command[0])
        return spot_refuse(r, line, "{models.weights_and_command} models[%d], \"%s\", has weights and a command; set one of "
                           "them", i, m->name);
    if (m->identity[0] && !m->command[0] && !spot_is_foreign(m->weights))
        return spot_refuse(r, line, "{models.identity} models[%d], \"%s\", has an identity, which names the program of a "
                           "command, and it has no command", i, m->name);
    SPOT_TRY(spot_refuse_input(r, line, i, m->name, &m->input, spot_program_text(m->weights, m->command)));
    if (m->weights[0] || m->command[0]) {
        if (cfg->objects.choice == SPOT_OBJECTS_TRAINED)
            return spot_refuse(r, line, "objects.choice trained is about networks that are trained here, and models[%d], "
                               "\"%s\", is not", i, m->name);
        return m->limits ? spot_refuse(r, line, "{models.region_untrained} models[%d], \"%s\", is not trained here, so no "
                                       "region is planted in it", i, m->name) : SPOT_OK;
    }
    if (!is_file_name(m->name))
        return spot_refuse(r, line, "{models.name} models[%d].name is \"%s\"; it names a file and takes letters, digits, "
                           "\".\", \"-\" and \"_\"", i, m->name);
    if (spot_picture_input_is_given(&m->input))
        return spot_refuse(r, line, "{models.input_trained} models[%d], \"%s\", is trained here, on ImageNet's numbers; mean, "
                           "std and scale are for other models", i, m->name);
    if (m->classes[0]) return spot_refuse(r, line, "models[%d], \"%s\", is trained here on the study's classes; classes is for "
                                          "other models", i, m->name);
    if (!(m->least_elevation < m->most_elevation))
        return spot_refuse(r, line, "{models.elevation} models[%d].least_elevation is not below its most_elevation", i);
    return check_limits(r, m, i, line);
}

static spot_status check_render(spot_reading *r, const spot_examine_config *cfg, int line)
{
    if (cfg->render.samples == 3) return spot_refuse(r, line, "{setting.value} render.samples is 3; it takes 1, 2 or 4");
    for (int m = 0; m < cfg->models; m++)
        if (!cfg->model[m].command[0] && !spot_is_foreign(cfg->model[m].weights) && cfg->render.size % 32)
            return spot_refuse(r, line, "{render.network_size} render.size is %d; networks that Spotter runs itself, such as "
                               "models[%d], look at multiples of 32", cfg->render.size, m);
    return SPOT_OK;
}

/* above: the group of the settings, "search" or "examiners[2]". */
static spot_status check_budget(spot_reading *r, spot_examine_search s, const char *above, int line)
{
    if (s.perturbed >= s.renders)
        return spot_refuse(r, line, "{examiners.renders} %s.renders is %d, and %d of them test the weakness that was found "
                           "(search.perturbed); the examiner needs at least one", above, s.renders, s.perturbed);
    if (!spot_examine_points(&s))
        return spot_refuse(r, line, "{examiners.points} %s.points is \"%s\"; it takes at most %d ascending numbers of renders, "
                           "the last one %s.renders (%d)", above, s.curve, SPOT_MAX_EXAMINE_POINTS, above, s.renders);
    if (s.point[0] <= s.perturbed)
        return spot_refuse(r, line, "{examiners.points} %s.points begins with %d renders, and %d of them test the weakness "
                           "that was found (search.perturbed); the examiner needs at least one",
                           above, s.point[0], s.perturbed);
    return SPOT_OK;
}

static spot_status check_factors(spot_reading *r, const spot_examine_config *cfg, int line)
{
    spot_ctx quiet = { 0 };
    spot_factor_space space;
    spot_conditions fixed;
    const spot_status s = spot_examine_space(&quiet, &space, &fixed, cfg);

    if (s == SPOT_OK) return s;
    spot_fail_from(r->c, s, &quiet);
    return spot_refuse(r, line, "factors: %s", spot_take_message(r->c, s));
}

static spot_status check_examiner(spot_reading *r, const spot_examine_config *cfg, int i, int line)
{
    const spot_examiner_config *e = &cfg->examiner[i];
    char above[32];

    for (int k = 0; k < i; k++)
        if (!strcmp(spot_examine_label(e), spot_examine_label(&cfg->examiner[k])))
            return spot_refuse(r, line, "{examiners.name_twice} two examiners are called \"%s\"; set their names",
                               spot_examine_label(e));
    if (!e->renders && !e->points[0]) return SPOT_OK;
    snprintf(above, sizeof above, "examiners[%d]", i);
    return check_budget(r, spot_examine_search_of(cfg, e), above, line);
}

static spot_status check_classes(spot_reading *r, const spot_examine_config *cfg, int line)
{
    int left = 0;

    for (int i = 0; i < cfg->classes; i++) {
        if (!cfg->cls[i].name[0]) return spot_refuse(r, line, "classes[%d] has no name", i);
        for (int k = 0; k < i; k++)
            if (!strcmp(cfg->cls[i].name, cfg->cls[k].name))
                return spot_refuse(r, line, "{classes.name_twice} two classes are called \"%s\"", cfg->cls[i].name);
        left += cfg->cls[i].leave;
    }
    return cfg->classes && cfg->classes - left < 2
         ? spot_refuse(r, line, "{classes.few} classes: a classifier needs two or more that are not left out") : SPOT_OK;
}

static spot_status check_config(spot_reading *r, const void *config, const yaml_node_t *root)
{
    const spot_examine_config *cfg = config;

    if (!cfg->objects.catalogue[0])
        return spot_refuse(r, spot_line_at(r, root, "objects"), "objects.catalogue, the 3-D models, is missing");
    SPOT_TRY(check_classes(r, cfg, spot_line_at(r, root, "classes")));
    SPOT_TRY(check_render(r, cfg, spot_line_at(r, root, "render")));
    SPOT_TRY(check_budget(r, cfg->search, "search", spot_line_at(r, root, "search")));
    SPOT_TRY(check_factors(r, cfg, spot_line_at(r, root, "factors")));
    for (int i = 0; i < cfg->models; i++) SPOT_TRY(check_model(r, cfg, i, spot_line_at(r, root, "models")));
    for (int i = 0; i < cfg->examiners; i++) SPOT_TRY(check_examiner(r, cfg, i, spot_line_at(r, root, "examiners")));
    return SPOT_OK;
}

/* ---- what settings say together ---- */

const char *spot_examine_label(const spot_examiner_config *e) { return e->name[0] ? e->name : spot_examiner_name(e->method); }

spot_status spot_examine_space(spot_ctx *c, spot_factor_space *s, spot_conditions *fixed, const spot_examine_config *cfg)
{
    spot_factor_range r[SPOT_FACTORS];

    if (!cfg->factors) {
        *s = spot_factor_space_paper();
        for (int f = 0; f < SPOT_FACTORS; f++) fixed->value[f] = NAN;
        return SPOT_OK;
    }
    for (int i = 0; i < cfg->factors; i++)
        r[i] = (spot_factor_range){ cfg->factor[i].factor, bound(cfg->factor[i].least, range[cfg->factor[i].factor][0]),
                                    bound(cfg->factor[i].most, range[cfg->factor[i].factor][1]) };
    return spot_factor_space_of(c, s, fixed, r, cfg->factors);
}

spot_render_settings spot_examine_rendering(const spot_examine_config *cfg)
{
    const spot_examine_render *r = &cfg->render;

    return (spot_render_settings){ .size = r->size, .samples = r->samples, .view = r->view, .near = r->near,
        .ambient = r->ambient, .specular = r->specular, .sun_scale = r->sun_scale, .lamp_scale = r->lamp_scale,
        .exposure = r->exposure, .falloff = r->falloff, .falloff_distance = r->falloff_distance,
        .background = { r->background, r->background, r->background } };
}

int spot_examine_classes(const spot_examine_config *cfg)
{
    int n = 0;

    for (int i = 0; i < cfg->classes; i++) n += !cfg->cls[i].leave;
    return n;
}

int spot_examine_objects_of_a_model(const spot_examine_config *cfg)
{
    return spot_examine_classes(cfg) * cfg->objects.per_class;
}

int spot_examine_units(const spot_examine_config *cfg)
{
    const long long n = (long long)cfg->models * cfg->examiners * cfg->search.seeds * spot_examine_objects_of_a_model(cfg);

    return n > 100000000 ? 100000000 : (int)n;
}

spot_examine_unit spot_examine_unit_of(const spot_examine_config *cfg, int unit)
{
    const int objects = spot_examine_objects_of_a_model(cfg), searches = unit / objects;

    return (spot_examine_unit){ .object = unit % objects, .seed = searches % cfg->search.seeds,
                                .examiner = searches / cfg->search.seeds % cfg->examiners,
                                .model = searches / cfg->search.seeds / cfg->examiners };
}

/* ---- read, print, compare ---- */

/* Its settings of training are not read. */
spot_examine_model spot_examine_outside_model(const char *name)
{
    return (spot_examine_model){ .name = name, .weights = "", .command = "", .identity = "", .classes = "", .renders = 1,
                                 .batch = 2, .epochs = 1, .width = 16, .lr = 1 };
}

spot_status spot_examine_complete(spot_ctx *c, spot_examine_config *cfg)
{
    close_ranges(cfg);
    spot_examine_points(&cfg->search);
    if (cfg->examiners) return SPOT_OK;
    cfg->examiner = spot_memory_take(&cfg->memory, sizeof *cfg->examiner);
    if (!cfg->examiner) return spot_fail(c, SPOT_NOMEM, "no memory for the examiners of a config");
    cfg->examiner[cfg->examiners++] = spot_examiner_defaults(SPOT_EXAMINER_CEM);
    return SPOT_OK;
}

static spot_status complete(spot_ctx *c, void *config) { return spot_examine_complete(c, config); }

#define OF_A_SEARCH (SPOT_AFFECTS_PICTURES | SPOT_AFFECTS_MODEL | SPOT_AFFECTS_VIEW | SPOT_AFFECTS_FINDING)
const spot_config_kind spot_examine_kind = {
    .rows = spot_examine_settings, .size = sizeof(spot_examine_config), .key = OF_A_SEARCH, .run = OF_A_SEARCH,
    .example = "configs/examine.yaml", .help = "spotter help config examine", .check = check_config, .complete = complete,
};

spot_status spot_examine_parse(spot_ctx *c, spot_examine_config *cfg, const char *text, size_t len, const char *name)
{
    return spot_yaml_parse(c, &spot_examine_kind, cfg, text, len, name);
}

void spot_examine_document(FILE *f)
{
    spot_examine_config cfg;

    spot_config_reset(&spot_examine_kind, &cfg);
    spot_yaml_document(f, spot_examine_settings, &cfg);
}

spot_key spot_examine_key(const spot_examine_config *cfg) { return spot_config_key(&spot_examine_kind, cfg); }
