/*
 * What the engine asks about its own memory (scripts/quickjs-changes.ts). Whatever is in the image lives as long as the
 * process, so nobody needs to know how many refer to it: they are counted all together. That count never comes near 0
 * or 1, so the engine takes everything in the image for shared, and changes a copy where it would change the only one.
 */
#ifndef FROZEN_H
#define FROZEN_H

#include <stdbool.h>
#include <stdint.h>

/* Where the image ends; 0 while it is made. Nothing that is counted lies before it. */
extern uintptr_t host_frozen_end;

extern int host_frozen_references;

static inline bool host_is_frozen(const void *block) { return (uintptr_t)block < host_frozen_end; }

struct JSRuntime;

/* Has the engine forget about room that is left between what it has: the image stays as it is. */
void js_leave_arenas(struct JSRuntime *runtime);

#endif
