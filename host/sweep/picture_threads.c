/* picture_threads.c - a list of pictures and the threads that draw them, each with a context of the CPU: images have the same
 * bits on every device. */
#include "sweep/picture_threads.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ops.h"
#include "spotter/report.h"

enum { MOST_THREADS = 8 };

typedef struct picture {
    struct picture    *next;
    const spot_ec_run *p;
    int                b;
    char               path[1200], title[240];
    spot_points        points;
    spot_hypotheses    found;
    void              *room;           /* the arrays of points and found */
    spot_status        status;
    char               message[1024];
} picture;

struct spot_picture_threads {
    pthread_t       thread[MOST_THREADS];
    int             threads;
    pthread_mutex_t lock;              /* guards the next three */
    pthread_cond_t  more;
    picture        *waiting;           /* the first that no thread has taken */
    bool            complete;          /* no picture will be added */
    picture        *first, *last;
    const volatile sig_atomic_t *stop;
};

static void draw_picture(spot_ctx *c, picture *d)
{
    const spot_ec_run *p = d->p;
    const spot_ec_picture of = { &p->ec, &p->segment.lesson, &p->seen.view, &p->seen.truth, &d->points, &d->found,
                                 &p->segment.method[d->b].score };

    d->status = spot_check_stop(c);
    if (!d->status) d->status = spot_report_ec(c, d->path, d->title, &of);
    if (d->status) snprintf(d->message, sizeof d->message, "%s", spot_message_alone(c, d->status));
    spot_forget(c);
}

static picture *next_picture(spot_picture_threads *t)
{
    picture *d;

    pthread_mutex_lock(&t->lock);
    while (!t->waiting && !t->complete) pthread_cond_wait(&t->more, &t->lock);
    d = t->waiting;
    if (d) t->waiting = d->next;
    pthread_mutex_unlock(&t->lock);
    return d;
}

static void *draw_pictures(void *user)
{
    spot_picture_threads *t = user;
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = 1, .stop = t->stop };
    picture *d;

    while ((d = next_picture(t))) draw_picture(&c, d);
    return NULL;
}

spot_status spot_pictures_open(spot_ctx *c, spot_picture_threads **t, int threads)
{
    spot_picture_threads *new = calloc(1, sizeof *new);

    if (!new) return spot_fail(c, SPOT_NOMEM, "no memory for threads that draw pictures");
    new->stop = c->stop;
    pthread_mutex_init(&new->lock, NULL);
    pthread_cond_init(&new->more, NULL);
    while (new->threads < (threads < MOST_THREADS ? threads : MOST_THREADS)
           && !pthread_create(&new->thread[new->threads], NULL, draw_pictures, new)) new->threads++;
    *t = new;
    if (new->threads) return SPOT_OK;
    spot_pictures_close(c, new, NULL, NULL);
    *t = NULL;
    return spot_fail(c, SPOT_NOMEM, "cannot start a thread that draws pictures");
}

/* Copies the points and the rows of the hypotheses into one piece of memory. */
static spot_status copy_arrays(spot_ctx *c, picture *d, const spot_points *points, const spot_hypotheses *found)
{
    size_t numbers = (size_t)points->n * (size_t)points->d, rows = 0;
    int *row;

    for (int k = 0; k < found->len; k++) rows += (size_t)found->h[k].len;
    d->room = malloc(numbers * sizeof *points->at + rows * sizeof *row + 1);
    if (!d->room) return spot_fail(c, SPOT_NOMEM, "no memory for a picture of %d points", points->n);
    d->points = *points;
    d->points.at = d->room;
    d->points.device_at = NULL;
    memcpy(d->points.at, points->at, numbers * sizeof *points->at);
    d->found = *found;
    row = (int *)(void *)(d->points.at + numbers);
    for (int k = 0; k < found->len; k++) {
        d->found.h[k].weight = NULL;
        d->found.h[k].row = row;
        memcpy(row, found->h[k].row, (size_t)found->h[k].len * sizeof *row);
        row += found->h[k].len;
    }
    return SPOT_OK;
}

spot_status spot_pictures_add(spot_ctx *c, spot_picture_threads *t, const spot_ec_run *p, int b, const char *path,
                              const char *title, const spot_points *points, const spot_hypotheses *found)
{
    picture *d = calloc(1, sizeof *d);
    spot_status s;

    if (!d) return spot_fail(c, SPOT_NOMEM, "no memory for a picture");
    s = copy_arrays(c, d, points, found);
    if (s) {
        free(d);
        return s;
    }
    d->p = p;
    d->b = b;
    snprintf(d->path, sizeof d->path, "%s", path);
    snprintf(d->title, sizeof d->title, "%s", title);
    pthread_mutex_lock(&t->lock);
    if (t->last) t->last->next = d;
    else t->first = d;
    t->last = d;
    if (!t->waiting) t->waiting = d;
    pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
    return SPOT_OK;
}

spot_status spot_pictures_close(spot_ctx *c, spot_picture_threads *t, spot_picture_judge *judge, void *user)
{
    spot_status s = SPOT_OK;

    if (!t) return SPOT_OK;
    pthread_mutex_lock(&t->lock);
    t->complete = true;
    pthread_cond_broadcast(&t->more);
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < t->threads; i++) pthread_join(t->thread[i], NULL);
    for (picture *d = t->first, *next; d; d = next) {
        next = d->next;
        if (d->status && judge && s == SPOT_OK) s = judge(user, d->p, d->b, spot_fail(c, d->status, "%s", d->message));
        free(d->room);
        free(d);
    }
    pthread_cond_destroy(&t->more);
    pthread_mutex_destroy(&t->lock);
    free(t);
    return s;
}
