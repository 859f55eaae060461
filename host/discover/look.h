/* look.h - looks at a user's pictures with a user's network: the part of spot_subject_read that needs no arrays. */
#ifndef SPOTTER_DISCOVER_LOOK_H
#define SPOTTER_DISCOVER_LOOK_H

#include "spotter/subject.h"

/* Fills s, which is zeroed, from files->images (and coco, model); what it takes is handed to spot_subject_keep. */
spot_status spot_subject_look(spot_ctx *c, spot_subject *s, const spot_subject_files *files);

#endif
