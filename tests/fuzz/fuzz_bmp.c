/* fuzz_bmp.c - any bytes behind the mark of a BMP. fuzz: -max_len=1024 */
#include "fuzz/fuzz_picture.h"
