/*
 * What the files of the addon share. Each function exported to JavaScript reads its arguments, makes one
 * system call (or one inseparable group of them) and returns a copy of the outcome: no memory is shared with
 * JavaScript past the end of a call. Meaning lives in TypeScript; here is only what must be C, and the one
 * computation (digest.c) that must be fast before a runtime has warmed up.
 *
 * All state hangs on the environment (main thread or worker), so several can load the addon.
 */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <errno.h>
#include <limits.h>
#include <node_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Repeats a system call that a signal interrupted. */
#define HD_RETRY(result, call)                                                                                 \
  do {                                                                                                         \
    (result) = (call);                                                                                         \
  } while ((result) < 0 && errno == EINTR)

/*
 * Up to so much is received on the stack: malloc tidies up all that was freed whenever as much as this is asked for or
 * given back.
 */
enum { HD_ROOM = 64 * 1024 };

/* --- values.c: arguments, results, errors ---------------------------------------------------------------- */

enum { HD_ARGUMENTS = 6 };

/* One call from JavaScript. `failed` is set once an argument was refused; an exception is then pending. */
struct hd_call {
  napi_env env;
  napi_value argument[HD_ARGUMENTS];
  bool failed;
};

struct hd_bytes {
  const uint8_t *data;
  size_t size;
};

struct hd_path {
  char text[PATH_MAX];
};

struct hd_call hd_begin(napi_env env, napi_callback_info info);
int hd_int(struct hd_call *call, size_t index);
uint32_t hd_uint(struct hd_call *call, size_t index);
/* The bytes stay JavaScript's: valid until the call ends. */
struct hd_bytes hd_bytes(struct hd_call *call, size_t index);
struct hd_path hd_path(struct hd_call *call, size_t index);
/* A persistent reference to a function argument. */
napi_ref hd_function(struct hd_call *call, size_t index);

napi_value hd_number(napi_env env, double value);
napi_value hd_copy(napi_env env, const void *data, size_t size);

/* A SysError, made by the factory that TypeScript registered. `path` may be NULL. */
napi_value hd_error(napi_env env, int errnum, const char *syscall, const char *path);
/* Throws that error. Always returns NULL, so that a function can return it. */
napi_value hd_fail(struct hd_call *call, int errnum, const char *syscall, const char *path);

/*
 * A function of the addon that is one system call and gives back the call's number (0, or a descriptor).
 * `arguments` declares variables read with hd_int and its like; `path` names the file in an error, or is NULL.
 */
#define HD_SYSTEM_CALL(function, syscall, path, arguments, expression)                                         \
  static napi_value function(napi_env env, napi_callback_info info) {                                          \
    struct hd_call call = hd_begin(env, info);                                                                 \
    arguments;                                                                                                 \
    if (call.failed) return NULL;                                                                              \
    int result;                                                                                                \
    HD_RETRY(result, expression);                                                                              \
    return result < 0 ? hd_fail(&call, errno, syscall, path) : hd_number(env, result);                         \
  }

struct hd_export {
  const char *name;
  napi_callback function;
};

void hd_define(napi_env env, napi_value exports, const struct hd_export *list, size_t count);

/* --- what an environment owns ---------------------------------------------------------------------------- */

struct hd_async;

/* What came back from a netlink request. */
struct hd_answer {
  uint8_t *data; /* the datagrams, one after the other */
  size_t size, capacity;
  size_t *end; /* where each of them ends */
  size_t count, slots;
};

struct hd_instance {
  napi_ref error_factory;
  struct hd_answer answer; /* room for the next one, see transact.c */
  struct hd_async *async; /* NULL until the first asynchronous call */
  unsigned away;          /* how many runInNetns are under way */
};

struct hd_instance *hd_instance(napi_env env);

/* --- netns.c --------------------------------------------------------------------------------------------- */

/*
 * Moves the calling thread into a network namespace (-1: stays) and remembers in `home` where it was.
 * False, with errno, when it could not.
 */
bool hd_enter_netns(int netns, int *home);
/* Moves back and keeps errno. Ends the process when it cannot: work in a wrong namespace is worse. */
void hd_leave_netns(int home);

/* --- async.c: threads and their way back to JavaScript ---------------------------------------------------- */

/*
 * Work that ends on the JavaScript thread. `run` is called on a thread of the pool; `finish` on the JavaScript
 * thread, where it frees the task. When the environment is gone, finish gets a NULL env and only frees.
 */
struct hd_task {
  struct hd_task *next;
  void (*run)(struct hd_task *task);
  void (*finish)(napi_env env, struct hd_task *task);
  napi_ref callback;
};

struct hd_watch;
struct hd_lock_wait;
struct hd_loop;

struct hd_async {
  napi_threadsafe_function deliver;
  unsigned pending; /* what keeps the event loop alive; JavaScript thread only */
  uint32_t last_id;

  pthread_mutex_t lock; /* guards the pool */
  pthread_cond_t work;
  struct hd_task *first, **tail;
  unsigned queued, idle, threads;
  pthread_t thread[8];
  bool stopping;

  struct hd_lock_wait *lock_waits; /* JavaScript thread only */
  int interrupt_signal;

  struct hd_watch *watches; /* JavaScript thread only */
  int epoll;
  struct hd_loop *loop; /* waits for the epoll; NULL where the thread does */
  int wake;
  pthread_t watcher;
};

/*
 * The environment's asynchronous part, for a call that starts something; made on first use. NULL with an exception
 * pending when that fails, and inside runInNetns: a thread born there would stay there.
 */
struct hd_async *hd_async(struct hd_call *call);
/* Starts a thread that takes no signals. Returns an errno. */
int hd_thread(pthread_t *thread, void *(*body)(void *), void *argument);
/* Hands the task to the pool. Returns an errno. */
int hd_submit(struct hd_async *async, struct hd_task *task);
/* From any thread: has `finish` called on the JavaScript thread. False: the caller keeps the task. */
bool hd_deliver(struct hd_async *async, struct hd_task *task);
/* JavaScript thread: keep the event loop alive, and let it go. */
void hd_hold(napi_env env, struct hd_async *async);
void hd_release(napi_env env, struct hd_async *async);
/* Calls `callback(error, value)`; NULL stands for undefined. What it throws is an uncaught exception. */
void hd_callback(napi_env env, napi_ref callback, napi_value error, napi_value value);
/* The end of a task that was held: lets the event loop go, calls its callback and drops it. */
void hd_settle(napi_env env, struct hd_task *task, napi_value error, napi_value value);

/* --- loop.c: the event loop of Node.js -------------------------------------------------------------------- */

/*
 * Has `ready` called on the JavaScript thread, outside of JavaScript, whenever the descriptor can be read, as long as the
 * environment lasts; it does not keep the event loop alive. NULL where the event loop is not libuv's. The plugins'
 * program, which has a loop of its own, is linked without these two.
 */
__attribute__((weak)) struct hd_loop *hd_loop_watch(napi_env env, int fd, void (*ready)(napi_env env));
/* From `ready`: calls a function that may call JavaScript; what that puts off until it has returned is done as well. */
__attribute__((weak)) void hd_loop_enter(struct hd_loop *loop, void (*function)(napi_env env, uint32_t argument),
                                         uint32_t argument);

/* Called once, when the environment ends. */
void hd_stop_watching(struct hd_async *async);
void hd_stop_lock_waits(struct hd_async *async);

/* --- one registration per file ---------------------------------------------------------------------------- */

void hd_register_aside(napi_env env, napi_value exports);
void hd_register_digest(napi_env env, napi_value exports);
void hd_register_files(napi_env env, napi_value exports);
void hd_register_locks(napi_env env, napi_value exports);
void hd_register_namespaces(napi_env env, napi_value exports);
void hd_register_netns(napi_env env, napi_value exports);
void hd_register_sockets(napi_env env, napi_value exports);
void hd_register_transact(napi_env env, napi_value exports);
void hd_register_watch(napi_env env, napi_value exports);

#endif
