/* detector_rows.c - see detector_rows.h. */
#include "cli/detector_rows.h"

#include <string.h>

#include <stdio.h>

bool cli_detector_check(const struct argp_state *state, const cli_detector *d, const spot_subject_files *f)
{
    static const char *const others[] = { "iou", "score", "rows", "context", "rows-only" };

    if (!d->o.file) {
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            if (cli_is_given(state, others[i])) argp_error(state, "--%s is about detections; give them with --detections FILE",
                                                           others[i]);
        return false;
    }
    if (!f->coco) argp_error(state, "--detections need the ground truth: --coco FILE");
    if (f->labels || f->probs || f->losses || f->model)
        argp_error(state, "--labels, --probs, --losses and --model belong to a classifier, --detections to a detector");
    if (!f->embeddings && !f->embed && !d->rows_only)
        argp_error(state, "--detections need features of their boxes: --embed FILE with --images DIR, or --embeddings E, whose "
                   "rows --rows-only lists");
    if (f->embed && f->embeddings) argp_error(state, "--embed and --embeddings both give features; give one of them");
    if (f->embed && !f->images) argp_error(state, "--embed looks at pictures; give their folder with --images DIR");
    if (f->embeddings && strchr(f->embeddings, '\n')) argp_error(state, "--detections take one --embeddings, not several");
    if (f->ids && !f->embeddings) argp_error(state, "--ids name the rows of --embeddings, which are not given");
    return true;
}

void cli_detector_begin(cli_detector *d, spot_subject_files *f)
{
    f->detections = d->o.file ? &d->o : NULL;
    if (!d->rows_only) return;
    f->embed = f->embeddings = f->ids = f->groups = NULL;      /* the sizes of given pictures are compared with the boxes' */
}

spot_status cli_detector_write(spot_ctx *c, cli_detector *d, const spot_subject *s, const char *dir)
{
    snprintf(d->table, sizeof d->table, "%s/attributes.csv:id", dir);
    return spot_instances_write(c, s, dir);
}
