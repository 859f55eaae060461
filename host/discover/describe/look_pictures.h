/* look_pictures.h - runs a user's network on a user's pictures, for spot_subject_read without embeddings. */
#ifndef SPOTTER_LOOK_PICTURES_H
#define SPOTTER_LOOK_PICTURES_H

#include "spotter/subject.h"

/* Fills s from files->images, coco, model, resize and crop; its memory is handed to spot_subject_keep. s comes zeroed: then the
 * classes are those of the annotations, else the folders. Or s comes with n, id, classes, class_name (NULL: numbers) and
 * target or has: then the ids name the pictures. The network has an output for each class, or a single output if pictures
 * have one of two classes. prob is the softmax of the outputs if a picture has one class, else the sigmoid of each.
 *
 * All threads decode, batch by batch: beside the subject it needs the memory of one batch, for any n. */
spot_status spot_subject_look(spot_ctx *c, spot_subject *s, const spot_subject_files *files);

#endif
