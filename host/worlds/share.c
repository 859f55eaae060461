/* share.c - a blindspot's expected share of all images, for an EC's description (scene_json.c). An attribute that varies has
 * each of its two values in half of the images, whatever the others are, so a triplet halves the share. The exception is the
 * square's relative position, whose chance depends on the squares' size and number: it is a sum over the places that
 * scene_draw.h draws from. */
#include "image/raster.h"
#include "spotter/scene.h"

/* P(the topmost square is above the centre line). A second square is uniform over the places that the first leaves free, so
 * the sum runs over the places of the first. */
static double chance_above(const spot_geometry *g, int small, int two)
{
    int e = g->shape[SPOT_SQUARE][small].h, places = g->size - e + 1;
    int reach = e + g->margin - 1;                          /* corners this near in both axes collide (spot_scene_collide) */
    int line = g->size / 2 - e / 2;                         /* corners before it are above */
    double both_below = 0;

    if (!two) return (double)line / places;
    for (int y = line; y < places; y++) {
        int top = y - reach < 0 ? 0 : y - reach, bottom = y + reach >= places ? places - 1 : y + reach;
        int low = top < line ? line : top;
        for (int x = 0; x < places; x++) {
            int left = x - reach < 0 ? 0 : x - reach, right = x + reach >= places ? places - 1 : x + reach;
            double taken = (double)(right - left + 1) * (bottom - top + 1);
            double taken_below = (double)(right - left + 1) * (bottom - low + 1);
            both_below += ((double)places * (places - line) - taken_below) / ((double)places * places - taken);
        }
    }
    return 1 - both_below / ((double)places * places);
}

double spot_blindspot_share(const spot_ec *ec, int m)
{
    const spot_geometry g = spot_geometry_of(&ec->scene);
    const spot_blindspot *b = &ec->blindspot[m];
    int fixed[SPOT_ATTRIBUTES] = { -1, -1, -1, -1, -1, -1 }, meta = -1;    /* its values for the square */
    double share = 1, p = 0, ways = 0;

    for (int i = 0; i < b->len; i++) {
        const spot_triplet *t = &b->triplet[i];
        if (t->attribute == SPOT_RELATIVE_POSITION) meta = t->value;
        else share /= 2;
        if (t->layer == SPOT_SQUARE) fixed[t->attribute] = t->value;
    }
    if (meta < 0) return share;
    if (fixed[SPOT_PRESENCE] < 0) share /= 2;               /* without a square there is no relative position */
    for (int small = 0; small <= ec->rollable[SPOT_SQUARE][SPOT_SIZE]; small++)
        for (int two = 0; two <= ec->rollable[SPOT_SQUARE][SPOT_NUMBER]; two++) {
            if (fixed[SPOT_SIZE] >= 0 && small != fixed[SPOT_SIZE]) continue;
            if (fixed[SPOT_NUMBER] >= 0 && two != fixed[SPOT_NUMBER]) continue;
            p += chance_above(&g, small, two);              /* the sizes and numbers left are equally likely */
            ways++;
        }
    return share * (meta ? p / ways : 1 - p / ways);
}
