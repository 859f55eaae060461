/* look_pictures.h - runs a user's network on a user's pictures: the part of spot_subject_read that needs no embeddings. */
#ifndef SPOTTER_LOOK_PICTURES_H
#define SPOTTER_LOOK_PICTURES_H

#include "spotter/subject.h"

/* Fills s from files->images, coco, model, resize and crop; what it takes is handed to spot_subject_keep. s comes zeroed, and
 * then classes are those of the annotations or else the folders; or with n, id, classes, class_name (NULL: numbers) and
 * target or has, and then the ids name the pictures. A network has an output for each class, or one output where pictures
 * have one of two classes. prob is the softmax of its outputs where a picture has one class, else the sigmoid of each.
 *
 * Pictures are decoded by all threads, batch by batch: whatever n is, beside the subject it takes what one batch takes. */
spot_status spot_subject_look(spot_ctx *c, spot_subject *s, const spot_subject_files *files);

#endif
