/* The engine and its event loop. */
#include "host.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Garbage is what a call leaves when it ends. Only the daemon, or a call that was sent megabytes, collects. */
enum { COLLECT_AFTER = 64 * 1024 * 1024 };

/* What serveTimers answers besides a time. */
enum { FOREVER = -1, END = -2 };

static void *engine_calloc(void *opaque, size_t count, size_t size) {
  (void)opaque;
  return host_calloc(count, size);
}

static void *engine_malloc(void *opaque, size_t size) {
  (void)opaque;
  return host_malloc(size);
}

static void engine_free(void *opaque, void *block) {
  (void)opaque;
  host_free(block);
}

static void *engine_realloc(void *opaque, void *block, size_t size) {
  (void)opaque;
  return host_realloc(block, size);
}

/* No `eval`, and no `new Function`: what the program runs is what it was built from. */
JSContext *host_start_engine(void) {
  static const JSMallocFunctions memory = {engine_calloc, engine_malloc, engine_free, engine_realloc,
                                           host_usable_size};
  JSRuntime *runtime = JS_NewRuntime2(&memory, NULL);
  JSContext *context = runtime == NULL ? NULL : JS_NewContextRaw(runtime);
  if (context == NULL) abort();
  JS_SetGCThreshold(runtime, COLLECT_AFTER);
  JS_SetCanBlock(runtime, true);
  JS_AddIntrinsicBaseObjects(context);
  JS_AddIntrinsicDate(context);
  JS_AddIntrinsicRegExp(context);
  JS_AddIntrinsicJSON(context);
  JS_AddIntrinsicProxy(context);
  JS_AddIntrinsicMapSet(context);
  JS_AddIntrinsicTypedArrays(context);
  JS_AddIntrinsicPromise(context);
  JS_AddIntrinsicBigInt(context);
  JS_AddIntrinsicWeakRef(context);
  return context;
}

_Noreturn void host_uncaught(JSContext *context, JSValue exception) {
  const char *message = JS_ToCString(context, exception);
  JSValue stack = JS_IsObject(exception) ? JS_GetPropertyStr(context, exception, "stack") : JS_UNDEFINED;
  const char *trace = JS_IsString(stack) ? JS_ToCString(context, stack) : NULL;
  fprintf(stderr, "%s\n%s", message == NULL ? "uncaught exception" : message, trace == NULL ? "" : trace);
  _exit(1);
}

void host_run_jobs(JSContext *context) {
  JSContext *where;
  int outcome;
  while ((outcome = JS_ExecutePendingJob(JS_GetRuntime(context), &where)) > 0) continue;
  if (outcome < 0) host_uncaught(context, JS_GetException(where));
}

/* Milliseconds until the next timer, or FOREVER, after those that were due. What they call may start other things. */
static int serve_timers(JSContext *context, JSValueConst host) {
  JSValue serve = JS_GetPropertyStr(context, host, "serveTimers");
  int32_t wait = END;
  if (JS_IsFunction(context, serve)) {
    JSValue result = JS_Call(context, serve, JS_UNDEFINED, 0, NULL);
    if (JS_IsException(result)) host_uncaught(context, JS_GetException(context));
    JS_ToInt32(context, &wait, result);
    JS_FreeValue(context, result);
  } else if (host_is_held(host_image.env)) {
    wait = FOREVER;
  }
  JS_FreeValue(context, serve);
  return wait;
}

void host_serve_events(JSContext *context, napi_env env, JSValueConst host) {
  host_run_jobs(context);
  for (int wait; (wait = serve_timers(context, host)) != END;) {
    struct pollfd wake = {.fd = host_wake_fd(env), .events = POLLIN};
    if (poll(&wake, 1, wait) > 0) host_deliver(env);
  }
}
