/* gallery.h - which pictures there are, and of what classes, before anyone has looked at them. */
#ifndef SPOTTER_GALLERY_H
#define SPOTTER_GALLERY_H

#include "spotter/subject.h"

/* Fills n, id, image, classes, class_name and target or has, as look_pictures.h says. */
spot_status spot_gallery_open(spot_ctx *c, spot_subject *s, const spot_subject_files *files);

/* s->image from s->id: FOLDER/ID. SPOT_INPUT where an id leads out of the folder by "..", or the picture is reached by a
 * symbolic link that leads out of it; links: that is allowed. A picture that is not there is none of this function's business. */
spot_status spot_gallery_paths(spot_ctx *c, spot_subject *s, const char *folder, bool links);

#endif
