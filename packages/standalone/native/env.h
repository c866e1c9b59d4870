/* The environment that the addon sees, shared by the two files that make it. */
#ifndef ENV_H
#define ENV_H

#include "host.h"

enum { ENV_BLOCK = 64 };

/* Slots never move: blocks are added, not enlarged. */
struct env_block {
  struct env_block *next;
  JSValue slot[ENV_BLOCK];
};

/* A place in the stack of handles. */
struct env_mark {
  struct env_block *block;
  unsigned used;
};

struct napi_env__ {
  JSContext *context;
  void *instance;
  struct env_block first;
  struct env_mark top;
  napi_threadsafe_function functions;
  int wake;
};

/* Zeroed memory; the process ends when there is none. */
void *env_allocate(size_t size);
/* A handle of a value, which it takes over. */
napi_value env_handle(napi_env env, JSValue value);
/* Frees the handles that came after a mark. */
void env_drop_handles(napi_env env, struct env_mark until);

/* Borrowed from its handle. */
static inline JSValue env_value(napi_value value) { return *(JSValue *)value; }

#endif
