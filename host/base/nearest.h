/* nearest.h - "did you mean" suggestions for settings, commands and ops. */
#ifndef SPOTTER_NEAREST_H
#define SPOTTER_NEAREST_H

/* The name in the NULL-terminated list that is most similar to word; NULL if none is similar. */
const char *spot_nearest(const char *word, const char *const *names);

#endif
