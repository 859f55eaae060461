/* detections.h - a detector's answers as rows: each object and each detection is one.
 *
 *     COCO's ground truth + detections in COCO's format of results -> matches -> rows with a box and an outcome
 *
 * Matches are those of pycocotools' COCOeval.evaluateImg at one IoU, with all areas and any number of detections: within a
 * picture and a category the detections choose in the order of their scores (of equal scores the earlier one first), each the
 * free object of the greatest IoU that is at least `iou` (of equal ones the last in the file). A detection that finds only a
 * crowd is no row, and crowds are none. Detections below `score` do not exist. Two kinds of rows answer two questions:
 *
 *     objects       which objects does the detector miss?      wrong: no detection matches          class "NAME: objects"
 *     detections    when does it see what is not there?        wrong: it matches no object          class "NAME: detections"
 *
 * The confidence of a row is the score, on a scale on which the threshold t is 1/2: s / 2t below it, 1/2 + (s - t) /
 * (2 (1 - t)) above. An object has that of its match, a missed one that of the best detection below the threshold that would
 * match it, else 0; a right detection has its own, a false one 1 minus its own. So confidence below 1/2 and wrong are the same.
 */
#ifndef SPOTTER_DETECTIONS_H
#define SPOTTER_DETECTIONS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SPOT_ROWS_BOTH, SPOT_ROWS_MISSES, SPOT_ROWS_ALARMS };           /* both kinds; objects alone; detections alone */

typedef struct {
    const char *file;          /* the detections */
    double iou;                /* least IoU of a match: 0.5, above 0 */
    double score;              /* least score of a detection: 0.5, below 1 */
    int    rows;               /* one of the three above */
    double context;            /* what a row shows around its box, in its longer side: 0.1 */
} spot_detection_options;

spot_detection_options spot_detection_defaults(void);          /* without a file */

/* Why a row is wrong; the first that holds. `other`: of another category.
 *
 *     LOW_SCORE      missed: a detection below the threshold would match it
 *     CONFUSION      missed: a detection of another category has IoU >= iou with it; false: an object of another does
 *     LOCALISATION   missed, false: the same category, IoU in [0.1, iou)
 *     DUPLICATE      false: IoU >= iou with an object of its category that a better detection has
 *     BOTH           false: an object of another category, IoU in [0.1, iou)
 *     NOTHING        missed: nothing is there; false: background
 *
 * False detections are asked in the order DUPLICATE, CONFUSION, LOCALISATION, BOTH, NOTHING; missed objects in the order of the
 * list. TIDE (Bolya et al. 2020) has the same kinds. */
typedef enum { SPOT_REASON_NONE, SPOT_REASON_LOW_SCORE, SPOT_REASON_CONFUSION, SPOT_REASON_LOCALISATION, SPOT_REASON_DUPLICATE,
               SPOT_REASON_BOTH, SPOT_REASON_NOTHING, SPOT_REASONS } spot_reason;

/* "", "low score", "confusion", "localisation", "duplicate", "confusion and localisation"; "not found" or "background" */
const char *spot_reason_name(int reason, int detected);

/* Facts about a row beside its class and confidence. */
typedef struct {
    float   x, y, w, h;        /* its box in pixels, from the upper left corner */
    float   area;              /* of the outline for an object, else w * h */
    float   score;             /* of the detection; of an object's match, or of the detection below the threshold; NaN: none */
    int64_t number;            /* the annotation's id, or its place in its picture from 0; the detection's place in the file */
    int     picture;           /* in the order of the file */
    int     width, height;     /* of the picture, in pixels; 0: not known */
    int     others;            /* rows of the same kind and category in the picture, without this one */
    uint8_t detected;          /* 1: a detection, 0: an object */
    uint8_t counted;           /* 1: the number of an object is its place, since its annotation has no id */
    uint8_t wrong, reason;
    uint8_t edge;              /* 1: it reaches the border of the picture within a pixel; 0: no; 2: the size is not known */
    uint8_t overlaps;          /* 1: another row of its kind, of any category, covers a tenth of it or more */
} spot_instance;

#ifdef __cplusplus
}
#endif
#endif
