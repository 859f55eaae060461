/* fuzz_jpeg.c - any bytes behind the mark of a JPEG. fuzz: -max_len=768 */
#include "fuzz/fuzz_picture.h"
