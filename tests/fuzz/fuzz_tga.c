/* fuzz_tga.c - any bytes as a texture in TGA, to colours and to one plane; other targets of pictures pass it by, for TGA has no
 * mark. fuzz: -max_len=1024 */
#define FUZZ_TGA
#include "fuzz/fuzz_picture.h"
