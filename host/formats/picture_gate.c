/* picture_gate.c - the memory limit that decoding threads share. */
#include "formats/picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"

/* An eighth of what is left stays for everything else. Pictures below LARGE are not worth a look at what is left. */
enum { SPARE = 8, LARGE = 32 << 20 };

static size_t room_left(const char **whose)
{
    const size_t left = spot_room_of_all(whose);

    return left - left / SPARE;
}

static void free_room(spot_room *room)
{
    free(room->at);
    *room = (spot_room){ 0 };
}

void spot_picture_gate_open(spot_picture_gate *g, size_t limit, int resize, int crop)
{
    const char *whose;
    const size_t left = room_left(&whose);

    *g = (spot_picture_gate){ .limit = limit ? limit : SPOT_PICTURE_MEMORY, .resize = resize, .crop = crop };
    if (left < g->limit) g->limit = left, g->whose = whose;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->given_back, NULL);
}

void spot_picture_gate_close(spot_picture_gate *g)
{
    pthread_cond_destroy(&g->given_back);
    pthread_mutex_destroy(&g->lock);
}

size_t spot_picture_bytes(const spot_picture_cost *cost, const spot_picture_reading *reading, int resize, int crop)
{
    size_t bytes = cost->file + cost->pixels + cost->work + cost->turned;

    if (reading->exif == SPOT_EXIF_APPLY && !cost->turned) bytes += cost->pixels;
    if (crop && cost->pixels) bytes += spot_picture_fit_bytes(cost->width, cost->height, resize, crop);
    return bytes;
}

static spot_status check_room(spot_ctx *c, const spot_picture_cost *cost, size_t bytes, size_t left, const char *whose,
                              const char *name)
{
    if (bytes <= left) return SPOT_OK;
    return spot_fail(c, SPOT_NOMEM, "{picture.room} %s: decoding %" PRIu64 " x %" PRIu64 " pixels takes %.1f MB of memory, and "
                     "%s leaves %.1f; give more memory, or save the picture smaller", name, cost->width, cost->height,
                     (double)bytes / 1e6, whose, (double)left / 1e6);
}

static spot_status check_alone(spot_ctx *c, const spot_picture_cost *cost, size_t bytes, const char *name)
{
    const char *whose;

    if (bytes < LARGE) return SPOT_OK;
    const size_t left = room_left(&whose);
    return check_room(c, cost, bytes, left, whose, name);
}

spot_status spot_gate_take(spot_ctx *c, spot_picture *p, const spot_picture_cost *cost, const char *name)
{
    spot_picture_gate *g = p->gate;
    const size_t bytes = spot_picture_bytes(cost, &p->reading, g ? g->resize : 0, g ? g->crop : 0);

    if (!g) return check_alone(c, cost, bytes, name);
    if (g->whose) SPOT_TRY(check_room(c, cost, bytes, g->limit, g->whose, name));
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
