/* nearest.h - "did you mean": for settings, commands, ops. */
#ifndef SPOTTER_NEAREST_H
#define SPOTTER_NEAREST_H

/* The name in the NULL-terminated list that is nearest to word, or NULL when none is near. */
const char *spot_nearest(const char *word, const char *const *names);

#endif
