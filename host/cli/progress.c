/* progress.c - the finished share of a run.
 *
 * A sweep reports the number of finished ECs; the stages of an EC report their own share. Training takes most of an EC's time.
 * The number of stages after it is unknown here, so each stage gets half of the share that is left at its begin. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

volatile sig_atomic_t cli_stop;

#define TRAINING 0.9           /* share of an EC's time */

double cli_progress_share(const cli_progress *k)
{
    double share = k->total > 0 ? (k->done + k->within) / k->total : k->within;

    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* Stages before the units of a run, such as the training of a base model, or the suite of a study of backgrounds. The
 * units have a bar of their own. */
static bool has_own_bar(const char *stage)
{
    return !strcmp(stage, "base") || !strcmp(stage, "backgrounds") || !strcmp(stage, "masks")
        || !strncmp(stage, "plant: ", 7) || !strncmp(stage, "zoo: ", 5) || !strncmp(stage, "examine: ", 9)
        || !strncmp(stage, "encode ", 7);
}

/* Stages that count the units of a run. */
static bool counts_units(const char *stage)
{
    return !strcmp(stage, "sweep") || !strcmp(stage, "background") || !strcmp(stage, "examine");
}

/* The pace is that of the second half of the time, at least: what went faster or slower before, such as units that a cache had,
 * counts less and less, so that the time left converges. */
static void move_marks(cli_progress *k)
{
    const cli_progress_mark now = { spot_clock(), cli_progress_share(k) };

    if (!k->first.clock) k->first = k->since = k->later = now;
    if (now.clock - k->first.clock < 2 || now.clock - k->first.clock < 2 * (k->later.clock - k->first.clock)) return;
    k->since = k->later;
    k->later = now;
}

void cli_progress_update(cli_progress *k, const spot_progress *p)
{
    double part = p->total > 0 ? p->done / p->total : 0, within;

    if (has_own_bar(k->stage) && strcmp(p->stage, k->stage)) k->first.clock = k->within = 0;
    if (counts_units(p->stage)) {
        k->total = p->total;
        k->done = p->done;
        k->within = 0;
    } else {
        if (strcmp(p->stage, k->stage) || part < k->part)         /* a new stage, or the same stage of another method */
            k->begin = k->within > TRAINING ? k->within : TRAINING;
        within = k->total == 0 ? part : !strcmp(p->stage, "train") ? TRAINING * part : k->begin + (1 - k->begin) / 2 * part;
        k->within = within > k->within ? within : k->within;      /* the bar never goes back */
    }
    k->part = part;
    k->ec = p->ec;
    snprintf(k->stage, sizeof k->stage, "%s", counts_units(p->stage) ? "" : p->stage);
    snprintf(k->note, sizeof k->note, "%s", p->note ? p->note : "");
    move_marks(k);
}

double cli_progress_left(const cli_progress *k)
{
    const double now = spot_clock(), share = cli_progress_share(k), gained = share - k->since.share;

    if (!k->first.clock || now - k->first.clock <= 2 || share - k->first.share <= 0.005 || gained <= 0) return NAN;
    return (now - k->since.clock) * (1 - share) / gained;
}

const char *cli_duration(char text[32], double seconds)
{
    long s = lround(seconds);

    if (s < 60) snprintf(text, 32, "%ld s", s);
    else if (s < 600) snprintf(text, 32, "%ld min %ld s", s / 60, s % 60);
    else if (s < 3600) snprintf(text, 32, "%ld min", (s + 30) / 60);
    else if (s < 48 * 3600) snprintf(text, 32, "%ld h %ld min", s / 3600, s % 3600 / 60);
    else snprintf(text, 32, "%.1f days", seconds / 86400);
    return text;
}

const char *cli_memory(char text[32], double bytes)
{
    if (bytes < 1e8) snprintf(text, 32, "%.1f MB", bytes / 1e6);
    else snprintf(text, 32, "%.2f GB", bytes / 1e9);
    return text;
}

void cli_progress_line(const cli_progress *k, char *text, size_t size)
{
    double left = cli_progress_left(k);
    char ec[24] = "", time[32], ends[48] = "";

    if (k->ec >= 0) snprintf(ec, sizeof ec, "  EC %d", k->ec);
    if (cli_stop) snprintf(ends, sizeof ends, "  stopping");
    else if (left > 0) snprintf(ends, sizeof ends, "  %s left", cli_duration(time, left));
    snprintf(text, size, "%3.0f %%%s%s%s%s%s%s", 100 * cli_progress_share(k), ec, k->stage[0] ? "  " : "", k->stage,
             k->note[0] ? "  " : "", k->note, ends);
}
