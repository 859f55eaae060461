/* shifts_config.c - units, folders, captions and keys of a config of shifts. */
#include "shifts/shifts_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/keys.h"

/* ---- units ---- */

int spot_shift_units(const spot_shifts_config *cfg)
{
    return (cfg->data.real[0] ? 1 : 0) + spot_shift_sources(cfg) * (1 + cfg->shifts);
}

spot_shift_unit spot_shift_unit_at(const spot_shifts_config *cfg, int unit)
{
    if (cfg->data.real[0] && !unit--) return (spot_shift_unit){ -1, SPOT_REAL_PICTURES };
    return (spot_shift_unit){ unit / (1 + cfg->shifts), unit % (1 + cfg->shifts) - 1 };
}

int spot_shift_unit_of(const spot_shifts_config *cfg, int source, int shift)
{
    const int real = cfg->data.real[0] ? 1 : 0;

    if (shift == SPOT_REAL_PICTURES) return real - 1;
    return real + source * (1 + cfg->shifts) + 1 + shift;
}

/* ---- folders ---- */

static bool is_outside(const char *path) { return path[0] == '/' || path[0] == '.'; }

/* The folder of the shift itself. */
static const char *own_folder(char text[64], const spot_shifts_config *cfg, int shift)
{
    if (shift < 0) return cfg->data.base;
    if (cfg->shift[shift].folder[0]) return cfg->shift[shift].folder;
    snprintf(text, 64, "%s", cfg->shift[shift].name);
    for (char *p = text; *p; p++)
        if (*p == ' ') *p = '_';
    return text;
}

const char *spot_shift_unit_id(char text[SPOT_SHIFT_PATH], const spot_shifts_config *cfg, spot_shift_unit u)
{
    const char *real = cfg->data.real;
    char own[64];

    if (u.shift == SPOT_REAL_PICTURES) snprintf(text, SPOT_SHIFT_PATH, "%s", is_outside(real) ? "real" : real);
    else if (cfg->sources)
        snprintf(text, SPOT_SHIFT_PATH, "%s/%s", cfg->source[u.source].name, own_folder(own, cfg, u.shift));
    else snprintf(text, SPOT_SHIFT_PATH, "%s", own_folder(own, cfg, u.shift));
    return text;
}

const char *spot_shift_unit_folder(char text[SPOT_SHIFT_PATH], const spot_shifts_config *cfg, spot_shift_unit u)
{
    char id[SPOT_SHIFT_PATH];

    if (u.shift == SPOT_REAL_PICTURES && is_outside(cfg->data.real)) snprintf(text, SPOT_SHIFT_PATH, "%s", cfg->data.real);
    else snprintf(text, SPOT_SHIFT_PATH, "%.600s/%.600s", cfg->data.root, spot_shift_unit_id(id, cfg, u));
    return text;
}

const char *spot_shift_picture_file(char *path, size_t size, const spot_shifts_config *cfg, int unit, const char *name)
{
    const spot_shift_unit u = spot_shift_unit_at(cfg, unit);
    char folder[SPOT_SHIFT_PATH], id[SPOT_SHIFT_PATH];
    const size_t n = strlen(spot_shift_unit_id(id, cfg, u));

    snprintf(path, size, "%s%s", spot_shift_unit_folder(folder, cfg, u), strncmp(name, id, n) ? "" : name + n);
    return path;
}

const char *spot_shift_unit_name(char text[160], const spot_shifts_config *cfg, spot_shift_unit u)
{
    if (u.shift == SPOT_REAL_PICTURES) snprintf(text, 160, "real pictures");
    else
        snprintf(text, 160, "%s%s%s", cfg->sources ? cfg->source[u.source].name : "", cfg->sources ? ", " : "",
                 u.shift < 0 ? "base" : cfg->shift[u.shift].name);
    return text;
}

/* ---- captions ---- */

/* Replaces each <class> of the template. */
static void fill_template(char text[SPOT_CAPTION], const char *template, const char *name)
{
    static const char mark[] = "<class>";
    size_t used = 0;

    for (const char *at; (at = strstr(template, mark)) && used < SPOT_CAPTION; template = at + sizeof mark - 1)
        used += (size_t)snprintf(text + used, SPOT_CAPTION - used, "%.*s%s", (int)(at - template), template, name);
    if (used < SPOT_CAPTION) snprintf(text + used, SPOT_CAPTION - used, "%s", template);
}

const char *spot_class_caption(char text[SPOT_CAPTION], const spot_shifts_config *cfg, int shift, const char *class_name)
{
    const spot_shift *s = shift < 0 ? NULL : &cfg->shift[shift];
    const bool plain = s && s->style && cfg->filter.style == SPOT_STYLE_PAPER;

    fill_template(text, s && s->class_caption[0] ? s->class_caption : plain ? "a <class>" : "a photo of a <class>", class_name);
    return text;
}

const char *spot_shift_caption(char text[SPOT_CAPTION], const spot_shifts_config *cfg, int shift)
{
    text[0] = 0;
    if (shift >= 0 && cfg->shift[shift].shift_caption[0])
        snprintf(text, SPOT_CAPTION, "%s", cfg->shift[shift].shift_caption);
    else if (shift >= 0) snprintf(text, SPOT_CAPTION, "a photo %s", cfg->shift[shift].name);
    return text;
}

/* ---- keys ---- */

static void forget_paths(spot_shifts_config *cfg)
{
    memset(cfg->data.root, 0, sizeof cfg->data.root);
    if (is_outside(cfg->data.real)) strcpy(cfg->data.real, ".");
    memset(cfg->data.names, 0, sizeof cfg->data.names);
    memset(cfg->filter.masks, 0, sizeof cfg->filter.masks);
    memset(cfg->filter.oracle, 0, sizeof cfg->filter.oracle);
    for (int m = 0; m < cfg->models; m++) {
        spot_shift_model *k = &cfg->model[m];
        memset(k->predictions, 0, sizeof k->predictions);
        memset(k->weights, 0, sizeof k->weights);
        memset(k->classes, 0, sizeof k->classes);
    }
    memset(cfg->encoder.weights, 0, sizeof cfg->encoder.weights);
    memset(cfg->encoder.vocabulary, 0, sizeof cfg->encoder.vocabulary);
    memset(cfg->encoder.config, 0, sizeof cfg->encoder.config);
    memset(cfg->encoder.embeddings, 0, sizeof cfg->encoder.embeddings);
}

/* What a unit's result does not depend on. */
static void forget_evaluation(spot_shifts_config *cfg)
{
    memset(&cfg->evaluation, 0, sizeof cfg->evaluation);
    memset(cfg->filter.chosen_for, 0, sizeof cfg->filter.chosen_for);
    for (int s = 0; s < cfg->shifts; s++) {
        memset(cfg->shift[s].prompt, 0, sizeof cfg->shift[s].prompt);
        memset(cfg->shift[s].category, 0, sizeof cfg->shift[s].category);
    }
}

/* All that may change between two calls on one run directory. Similarities are in its cache, so thresholds are free. */
static void forget_choices(spot_shifts_config *cfg)
{
    forget_evaluation(cfg);
    memset(&cfg->filter, 0, sizeof cfg->filter);
    for (int s = 0; s < cfg->shifts; s++) {
        spot_shift *h = &cfg->shift[s];
        memset(h->class_caption, 0, sizeof h->class_caption);
        memset(h->shift_caption, 0, sizeof h->shift_caption);
        h->threshold = 0, h->style = 0;
    }
    cfg->models = 0;
}

spot_key spot_shifts_key(const spot_shifts_config *cfg)
{
    spot_shifts_config *own = malloc(sizeof *own);
    spot_key k = { 0, 0 };

    if (!own) return k;
    *own = *cfg;
    forget_paths(own);
    forget_evaluation(own);
    k = spot_key_of_settings(spot_shifts_settings, own);
    free(own);
    return k;
}

bool spot_shifts_differ(char *words, size_t size, const spot_shifts_config *there, const spot_shifts_config *here)
{
    spot_shifts_config *copy = malloc(2 * sizeof *copy);
    bool differ = true;

    snprintf(words, size, "no memory to compare them");
    if (!copy) return true;
    copy[0] = *there, copy[1] = *here;
    for (int i = 0; i < 2; i++) {
        forget_paths(&copy[i]);
        forget_choices(&copy[i]);
    }
    differ = spot_settings_differ(words, size, spot_shifts_settings, &copy[0], &copy[1]);
    free(copy);
    return differ;
}

bool spot_shifts_replace(const spot_shifts_config *there, const spot_shifts_config *here)
{
    char words[512];

    return spot_settings_differ(words, sizeof words, spot_shifts_settings, there, here);
}
