/* gallery.h - lists the pictures and their classes before the network runs. */
#ifndef SPOTTER_GALLERY_H
#define SPOTTER_GALLERY_H

#include "spotter/subject.h"

/* Fills n, id, image, classes, class_name and target or has, as look_pictures.h says. */
spot_status spot_gallery_open(spot_ctx *c, spot_subject *s, const spot_subject_files *files);

/* Fills s->image with FOLDER/ID from s->id; where rows have a box, without
 * the last "#" of the id and what follows. SPOT_INPUT when an id leads out of the folder by "..", or by a symbolic link
 * unless `links` allows that. The pictures need not exist. */
spot_status spot_gallery_paths(spot_ctx *c, spot_subject *s, const char *folder, bool links);

#endif
