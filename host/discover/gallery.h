/* gallery.h - which pictures there are, and of what classes, before anyone has looked at them. */
#ifndef SPOTTER_GALLERY_H
#define SPOTTER_GALLERY_H

#include "spotter/subject.h"

/* Fills n, id, image, classes, class_name and target or has, as look_pictures.h says. */
spot_status spot_gallery_open(spot_ctx *c, spot_subject *s, const spot_subject_files *files);

/* s->image from s->id: FOLDER/ID. SPOT_INPUT where an id leads out of the folder by "..", or a symbolic link leads out of it,
 * which `links` allows. Pictures need not be there. */
spot_status spot_gallery_paths(spot_ctx *c, spot_subject *s, const char *folder, bool links);

#endif
