/* zoo_ground.h - backgrounds of the planted world: two painted areas, perhaps a thing between them, and keywords for all. */
#ifndef SPOTTER_ZOO_GROUND_H
#define SPOTTER_ZOO_GROUND_H

#include <stdint.h>

/* Keywords of painted backgrounds. A family is a place: its areas are always there, its things often, a stranger seldom. */
#define SPOT_ZOO_WORDS(X)                                                                                     \
    X(SKY, "sky") X(CLOUDS, "clouds") X(NIGHT, "night sky") X(GRASS, "grass") X(WATER, "water") X(SAND, "sand")     \
    X(SNOW, "snow") X(LEAVES, "leaves") X(SOIL, "soil") X(BRICKS, "bricks") X(STONES, "stones") X(PLANKS, "planks") \
    X(STRIPES, "stripes") X(DOTS, "dots") X(TILES, "tiles") X(CARPET, "carpet") X(SUN, "sun") X(MOON, "moon")       \
    X(MOUNTAIN, "mountain") X(FENCE, "fence") X(TRUNKS, "trunks") X(FLOWERS, "flowers") X(LAMP, "lamp")        \
    X(WINDOW, "window") X(BRIGHT, "bright") X(DARK, "dark")

typedef enum {
#define X(NAME, word) SPOT_ZOO_##NAME,
    SPOT_ZOO_WORDS(X)
#undef X
    SPOT_ZOO_WORD_COUNT
} spot_zoo_word;

enum { SPOT_ZOO_FAMILIES = 12 };

const char *spot_zoo_word_name(spot_zoo_word word);
const char *spot_zoo_family_name(int family);          /* "meadow", also a keyword of each of its backgrounds */

/* Background `index` of a family: rgb (size, size, 3); returns its keywords, bit w is word w. A pure function. */
uint32_t spot_zoo_ground(uint8_t *rgb, int size, uint64_t seed, int family, uint32_t index);

#endif
