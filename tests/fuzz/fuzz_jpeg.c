/* fuzz_jpeg.c - any bytes behind the mark of a JPEG. */
#include "picture.h"
