/* predictor_memory.c - see predictor_memory.h. */
#define _POSIX_C_SOURCE 200809L
#include "models/predictor_memory.h"

#include <stdbool.h>
#include <sys/stat.h>

#include "models/foreign_model.h"
#include "spotter/predictor.h"

static size_t size_of(const char *path)
{
    struct stat st;

    return *path && !spot_is_foreign(path) && !stat(path, &st) && S_ISREG(st.st_mode) ? (size_t)st.st_size : 0;
}

/* Networks whose files have the same size take the same memory. */
static bool is_first_of_size(const char *const *weights, int at)
{
    const size_t size = size_of(weights[at]);

    for (int i = 0; i < at; i++)
        if (size_of(weights[i]) == size) return false;
    return size > 0;
}

/* Weights, at most twice as large as their file, scratch for a whole batch, of which a call of fewer pictures leaves the rest
 * untouched, and the answers. */
static size_t bytes_for(const spot_predictor_info *about, size_t file, int pictures)
{
    const size_t weights = 2 * file < about->bytes ? 2 * file : about->bytes, batch = (size_t)about->batch;
    const size_t busy = (size_t)pictures < batch ? (size_t)pictures : batch;
    const size_t answer = (size_t)(about->outputs + about->dim + about->channels) * sizeof(float);

    return weights + (about->bytes - weights) / batch * busy + (size_t)pictures * answer;
}

size_t spot_predictor_memory(spot_ctx *c, const char *const *weights, int n, const spot_predictor_work *w)
{
    size_t most = 0;

    for (int i = 0; i < n; i++) {
        spot_predictor *p;
        const spot_predictor_options o = { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = weights[i], .side = w->side,
                                           .precision = w->precision };
        if (!is_first_of_size(weights, i)) continue;
        if (spot_check_stop(c) || spot_predictor_open(c, &p, &o)) {
            spot_forget(c);
            continue;
        }
        const size_t bytes = bytes_for(spot_predictor_about(p), size_of(weights[i]), w->pictures);
        most = bytes > most ? bytes : most;
        spot_predictor_close(c, p);
    }
    return most;
}

size_t spot_largest_file(const char *const *path, int n)
{
    size_t most = 0;

    for (int i = 0; i < n; i++) most = size_of(path[i]) > most ? size_of(path[i]) : most;
    return most;
}
