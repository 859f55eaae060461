/* fuzz_gif.c - any bytes behind the mark of a GIF. fuzz: -max_len=1024 */
#include "fuzz/fuzz_picture.h"
