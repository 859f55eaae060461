/* picture_gate.c - the memory limit that decoding threads share. */
#include "formats/picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void free_room(spot_room *room)
{
    free(room->at);
    *room = (spot_room){ 0 };
}

void spot_picture_gate_open(spot_picture_gate *g, size_t limit, int resize, int crop)
{
    *g = (spot_picture_gate){ .limit = limit ? limit : SPOT_PICTURE_MEMORY, .resize = resize, .crop = crop };
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->given_back, NULL);
}

void spot_picture_gate_close(spot_picture_gate *g)
{
    pthread_cond_destroy(&g->given_back);
    pthread_mutex_destroy(&g->lock);
}

spot_status spot_gate_take(spot_ctx *c, spot_picture *p, const spot_picture_cost *cost, const char *name)
{
    spot_picture_gate *g = p->gate;
    size_t bytes = cost->file + cost->pixels + cost->work + cost->turned;

    if (!g) return SPOT_OK;
    if (p->reading.exif == SPOT_EXIF_APPLY && !cost->turned) bytes += cost->pixels;
    if (g->crop && cost->pixels) bytes += spot_picture_fit_bytes(cost->width, cost->height, g->resize, g->crop);
    if (bytes > g->limit)
        return spot_fail(c, SPOT_INPUT, "{picture.memory} %s: decoding %" PRIu64 " x %" PRIu64
                         " pixels takes %.1f MB of memory, allowed are %.1f", name, cost->width, cost->height,
                         (double)bytes / 1e6, (double)g->limit / 1e6);
    pthread_mutex_lock(&g->lock);
    while (g->limit - g->used < bytes) pthread_cond_wait(&g->given_back, &g->lock);
    g->used += bytes;
    pthread_mutex_unlock(&g->lock);
    p->held = bytes;
    return SPOT_OK;
}

void spot_picture_give_back(spot_picture *p)
{
    p->rgb = NULL;
    if (!p->held) return;
    free_room(&p->file);
    free_room(&p->pixels);
    free_room(&p->line);
    free_room(&p->turned);
    free_room(&p->taps);
    pthread_mutex_lock(&p->gate->lock);
    p->gate->used -= p->held;
    pthread_cond_broadcast(&p->gate->given_back);
    pthread_mutex_unlock(&p->gate->lock);
    p->held = 0;
}

void spot_picture_close(spot_picture *p)
{
    spot_picture_give_back(p);
    free_room(&p->file);
    free_room(&p->pixels);
    free_room(&p->line);
    free_room(&p->turned);
    free_room(&p->taps);
    memset(p, 0, sizeof *p);
}
