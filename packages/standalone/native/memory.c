/*
 * Memory that the engine and the addon live in. While the program is built it comes from one region at a fixed
 * address, which becomes part of the program; when it runs, that region is there again, and what comes on top is
 * the C library's. A block of the region has its size in front of it.
 */
#include "frozen.h"
#include "host.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16 };

struct host_image host_image __attribute__((section(".image,\"aw\",@nobits#"), aligned(4096)));

uintptr_t host_frozen_end;
/* Far from 0, from 1, and from what does not fit. */
int host_frozen_references = 1 << 30;

static bool is_frozen(const void *block) {
  return (const uint8_t *)block >= host_image.memory && (const uint8_t *)block < host_image.memory + HOST_IMAGE_ROOM;
}

static size_t frozen_size(const void *block) { return *(const size_t *)((const uint8_t *)block - ALIGN); }

/*
 * Blocks that were given back while the program is built, by their size: the engine asks for pages of one size, and gives
 * each back as soon as nothing is in it. Without this the image would be twice as large, with one object in many a page.
 */
static struct gap {
  struct gap *next;
  size_t whole;
} *gaps[256];

static struct gap **gaps_of(size_t whole) { return &gaps[whole / ALIGN % (sizeof gaps / sizeof gaps[0])]; }

static size_t whole_of(size_t size) { return (size + 2 * ALIGN - 1) & ~(size_t)(ALIGN - 1); }

static void *take_gap(size_t whole) {
  for (struct gap **at = gaps_of(whole); *at != NULL; at = &(*at)->next) {
    if ((*at)->whole != whole) continue;
    struct gap *gap = *at;
    *at = gap->next;
    return gap;
  }
  return NULL;
}

static void leave_gap(void *block) {
  size_t whole = whole_of(frozen_size(block));
  if (whole < ALIGN + sizeof(struct gap)) return;
  struct gap *gap = block, **first = gaps_of(whole);
  gap->next = *first;
  gap->whole = whole;
  *first = gap;
}

static void *take(size_t size) {
  size_t whole = whole_of(size);
  if (whole < size) return NULL;
  uint8_t *block = take_gap(whole);
  if (block == NULL) {
    if (whole > HOST_IMAGE_ROOM - host_image.used) return NULL;
    block = host_image.memory + host_image.used + ALIGN;
    host_image.used += whole;
  }
  *(size_t *)(block - ALIGN) = size;
  return block;
}

void *host_calloc(size_t count, size_t size) {
  if (host_image.context != NULL) return calloc(count, size);
  size_t whole;
  if (__builtin_mul_overflow(count, size, &whole)) return NULL;
  void *block = take(whole);
  return block == NULL ? NULL : memset(block, 0, whole);
}

void *host_malloc(size_t size) { return host_image.context != NULL ? malloc(size) : take(size); }

void host_free(void *block) {
  if (!is_frozen(block)) free(block);
  else if (host_image.context == NULL) leave_gap(block);
}

void *host_realloc(void *block, size_t size) {
  if (block == NULL) return host_malloc(size);
  if (!is_frozen(block)) return realloc(block, size);
  if (size <= frozen_size(block)) return block;
  void *larger = host_malloc(size);
  if (larger == NULL) return NULL;
  memcpy(larger, block, frozen_size(block));
  host_free(block);
  return larger;
}

size_t host_usable_size(const void *block) {
  if (block == NULL) return 0;
  return is_frozen(block) ? frozen_size(block) : malloc_usable_size((void *)block);
}
