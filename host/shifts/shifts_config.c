/* shifts_config.c - units, folders and captions of a config of shifts. */
#include "shifts/shifts_config.h"

#include <stdio.h>
#include <string.h>

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

    if (u.shift == SPOT_REAL_PICTURES) snprintf(text, SPOT_SHIFT_PATH, "%s", spot_shift_is_outside(real) ? "real" : real);
    else if (cfg->sources)
        snprintf(text, SPOT_SHIFT_PATH, "%s/%s", cfg->source[u.source].name, own_folder(own, cfg, u.shift));
    else snprintf(text, SPOT_SHIFT_PATH, "%s", own_folder(own, cfg, u.shift));
    return text;
}

const char *spot_shift_unit_folder(char text[SPOT_SHIFT_PATH], const spot_shifts_config *cfg, spot_shift_unit u)
{
    const bool outside = u.shift == SPOT_REAL_PICTURES && spot_shift_is_outside(cfg->data.real);
    char id[SPOT_SHIFT_PATH];

    if (outside) snprintf(text, SPOT_SHIFT_PATH, "%s", cfg->data.real);
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

bool spot_shift_encoder_guesses(int named, int n, int classes)
{
    const double guess = 1.0 / classes;

    return classes > 1 && n && spot_share_of(named, n).low < guess + 0.1 * (1 - guess);
}
