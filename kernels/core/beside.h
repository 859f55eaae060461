/* beside.h - finds files that are installed with this library or program: its CUDA plugin, its parser of models. */
#ifndef SPOTTER_BESIDE_H
#define SPOTTER_BESIDE_H

#include <stddef.h>

/* The path of `file`: in the folder that the environment's variable names, if it is set; else in the first of the folders where
 * it can be read. These are relative to the folder of the library or program that holds this code: the current directory does
 * not matter. Where none has it, the path in the last of them. */
void spot_path_beside(char *path, size_t size, const char *variable, const char *const *folder, int folders, const char *file);

#endif
