/* The start of the program, which finds the engine as it was left when the program was built. */
#include "frozen.h"
#include "host.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_STACK = 8 * 1024 * 1024 };

/* A descriptor that the caller left closed must not become that of another file, where answers would go. */
static void open_standard_descriptors(void) {
  for (int fd = 0; fd < 3; fd++) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) _exit(1);
  }
}

/* The engine refuses to go deeper than this, where C still has room. */
static size_t stack_size(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur > MOST_STACK) return MOST_STACK / 2;
  return limit.rlim_cur / 2;
}

static JSValue strings(JSContext *context, char **list) {
  JSValue array = JS_NewArray(context);
  for (uint32_t i = 0; list[i] != NULL; i++) JS_SetPropertyUint32(context, array, i, JS_NewString(context, list[i]));
  return array;
}

/* The last of two with one name wins, as it does for Node.js. */
static JSValue variables(JSContext *context, char **list) {
  JSValue object = JS_NewObjectProto(context, JS_NULL);
  for (; *list != NULL; list++) {
    const char *end = strchr(*list, '=');
    if (end == NULL) continue;
    JSAtom name = JS_NewAtomLen(context, *list, (size_t)(end - *list));
    JS_SetProperty(context, object, name, JS_NewString(context, end + 1));
    JS_FreeAtom(context, name);
  }
  return object;
}

static int run(char **arguments) {
  JSContext *context = host_image.context;
  host_frozen_end = (uintptr_t)host_image.memory + host_image.used;
  JSValueConst host = host_image.host;
  JS_UpdateStackTop(JS_GetRuntime(context));
  JS_SetMaxStackSize(JS_GetRuntime(context), stack_size());
  JS_SetPropertyStr(context, host, "arguments", strings(context, arguments));
  JS_SetPropertyStr(context, host, "environment", variables(context, environ));
  JSValue main = JS_GetPropertyStr(context, host, "main");
  JSValue done = JS_Call(context, main, JS_UNDEFINED, 0, NULL);
  if (JS_IsException(done)) host_uncaught(context, JS_GetException(context));
  host_serve_events(context, host_image.env, host);
  if (JS_PromiseState(context, done) == JS_PROMISE_REJECTED) {
    host_uncaught(context, JS_PromiseResult(context, done));
  }
  /* A call that is served ends the process by itself. */
  fputs("heddle: the call has come to no end\n", stderr);
  return 1;
}

/* Memory that was given back to the kernel would be asked for again at once, and be cleared once more. */
static void keep_memory(void) {
  mallopt(M_TOP_PAD, 1024 * 1024);
  mallopt(M_TRIM_THRESHOLD, 64 * 1024 * 1024);
  mallopt(M_MMAP_THRESHOLD, 4 * 1024 * 1024);
}

int main(int count, char **arguments) {
  /* Errors of the calls say it, as on Node.js: EPIPE, and EFBIG where files may only grow so far. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  open_standard_descriptors();
  keep_memory();
  if (host_image.context != NULL) return run(arguments);
  if (count != 3) {
    fputs("this program has no image yet: call it with a SCRIPT and the name of the PROGRAM to write\n", stderr);
    return 2;
  }
  host_freeze(arguments[1], arguments[2]);
  return 0;
}
