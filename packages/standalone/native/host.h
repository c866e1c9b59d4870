/*
 * The plugins' program: QuickJS, the addon of `sys` through as much of Node-API as that uses, and what the modules of
 * src/host need of the system. The engine is started while the program is built, and frozen: see memory.c.
 */
#ifndef HOST_H
#define HOST_H

#include <errno.h>
#include <limits.h>
#include <node_api.h>
#include <quickjs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- memory.c: the image of the started engine -------------------------------------------------------------- */

enum { HOST_IMAGE_ROOM = 32 * 1024 * 1024 };

/*
 * The engine as it was when it had loaded all modules. It is made when the program is built, and written into it;
 * the addresses in it hold because the program is always loaded to the same place.
 */
struct host_image {
  JSContext *context; /* NULL while the image is made */
  napi_env env;
  JSValue host; /* the object that src/host/host.ts describes */
  size_t used;
  uint8_t memory[HOST_IMAGE_ROOM] __attribute__((aligned(16)));
};

extern struct host_image host_image;

void *host_malloc(size_t size);
void *host_calloc(size_t count, size_t size);
void *host_realloc(void *block, size_t size);
void host_free(void *block);
size_t host_usable_size(const void *block);

/* --- freeze.c ----------------------------------------------------------------------------------------------- */

/* Runs a script, which loads all modules and leaves `host.main`, and writes the program that starts from there. */
void host_freeze(const char *script, const char *program);

/* --- engine.c ----------------------------------------------------------------------------------------------- */

JSContext *host_start_engine(void);
/* Runs what promises have waiting. */
void host_run_jobs(JSContext *context);
/* Serves timers and other threads until nothing is left to wait for. */
void host_serve_events(JSContext *context, napi_env env, JSValueConst host);
/* An exception that nobody caught: says so and ends the process. */
_Noreturn void host_uncaught(JSContext *context, JSValue exception);

/* --- node-api.c: the addon's side of the engine ------------------------------------------------------------- */

napi_env host_env(JSContext *context);
/* The exports of the addon. */
JSValue host_addon(napi_env env);
/* Delivers what other threads have sent. */
void host_deliver(napi_env env);
/* Whether something is under way whose end must be waited for. */
bool host_is_held(napi_env env);
/* Readable when there is something to deliver; -1 before anything was started. */
int host_wake_fd(napi_env env);

/* --- arguments.c: what functions for JavaScript are made of ------------------------------------------------- */

#define HOST_FUNCTION(name)                                                                                    \
  static JSValue name(JSContext *context, __attribute__((unused)) JSValueConst receiver,                       \
                      __attribute__((unused)) int count, __attribute__((unused)) JSValueConst *argument)

/* Repeats a system call that a signal interrupted. */
#define HOST_RETRY(result, call)                                                                               \
  do {                                                                                                         \
    (result) = (call);                                                                                         \
  } while ((result) < 0 && errno == EINTR)

struct host_path {
  char text[PATH_MAX];
};

/* Throws the system's error, made by `host.makeError`; `path` may be NULL. */
JSValue host_fail(JSContext *context, int errnum, const char *syscall, const char *path);
/* False with an exception pending. A path is taken whole or not at all. */
bool host_get_path(JSContext *context, JSValueConst value, struct host_path *path);
/* The modules of src/host pass what their types say. */
int host_get_int(JSContext *context, JSValueConst value);

/* --- one registration per file ------------------------------------------------------------------------------ */

void host_register_files(JSContext *context, JSValueConst host);
void host_register_text(JSContext *context, JSValueConst host);
void host_register_process(JSContext *context, JSValueConst host);
void host_register_children(JSContext *context, JSValueConst host);

#endif
