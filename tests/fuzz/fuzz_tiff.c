/* fuzz_tiff.c - any bytes behind the mark of a TIFF. fuzz: -max_len=1024 */
#include "fuzz/fuzz_picture.h"
