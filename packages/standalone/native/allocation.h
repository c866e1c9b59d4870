/*
 * Included in front of the addon's sources: in this program they take memory from where the engine does, so that what
 * they keep is part of the image. See memory.c.
 */
#ifndef ALLOCATION_H
#define ALLOCATION_H

#include <stdlib.h>

void *host_malloc(size_t size);
void *host_calloc(size_t count, size_t size);
void *host_realloc(void *block, size_t size);
void host_free(void *block);

#define malloc host_malloc
#define calloc host_calloc
#define realloc host_realloc
#define free host_free

#endif
