/* fuzz_webp.c - any bytes behind the mark of a WebP. fuzz: -max_len=1024 */
#include "fuzz/fuzz_picture.h"
