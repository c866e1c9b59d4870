/*
 * Readiness of descriptors: one epoll(7) per environment, which the event loop waits for where that is libuv's
 * (loop.c), else a thread. A watch fires once and is armed again when its callback has returned, so that a slow
 * callback is never called twice for one event.
 */
#include "heddle.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct hd_watch {
  struct hd_watch *next;
  uint32_t id;
  int fd;
  napi_ref callback;
  bool held;
};

/* "This watch is ready", on its way from the thread to JavaScript's. The watch may be gone when it arrives. */
struct readiness {
  struct hd_task task;
  uint32_t id;
};

static struct hd_watch **find(struct hd_async *async, uint32_t id) {
  struct hd_watch **link = &async->watches;
  while (*link != NULL && (*link)->id != id) link = &(*link)->next;
  return link;
}

static void fire(napi_env env, uint32_t id) {
  struct hd_async *async = hd_instance(env)->async;
  if (async == NULL) return;
  struct hd_watch *watch = *find(async, id);
  if (watch == NULL) return;
  hd_callback(env, watch->callback, NULL, NULL);
  watch = *find(async, id); /* the callback may have ended it */
  if (watch == NULL) return;
  struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = id};
  epoll_ctl(async->epoll, EPOLL_CTL_MOD, watch->fd, &event);
}

static void fire_delivered(napi_env env, struct hd_task *task) {
  struct readiness *readiness = (struct readiness *)task;
  uint32_t id = readiness->id;
  free(readiness);
  if (env != NULL) fire(env, id);
}

/* On the JavaScript thread, when the event loop has found the epoll ready. */
static void fire_ready(napi_env env) {
  struct hd_async *async = hd_instance(env)->async;
  struct epoll_event events[32];
  int count = async == NULL ? 0 : epoll_wait(async->epoll, events, 32, 0);
  for (int i = 0; i < count; i++) hd_loop_enter(async->loop, fire, (uint32_t)events[i].data.u64);
}

/* Id 0 is the eventfd that ends the thread. */
static void *serve_epoll(void *argument) {
  struct hd_async *async = argument;
  for (;;) {
    struct epoll_event events[32];
    int count = epoll_wait(async->epoll, events, 32, -1);
    for (int i = 0; i < count; i++) {
      if (events[i].data.u64 == 0) return NULL;
      struct readiness *readiness = calloc(1, sizeof *readiness);
      if (readiness == NULL) abort();
      readiness->task.finish = fire_delivered;
      readiness->id = (uint32_t)events[i].data.u64;
      if (!hd_deliver(async, &readiness->task)) free(readiness);
    }
  }
}

/* Returns an errno; all or nothing. */
static int start_thread(struct hd_async *async) {
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
  int errnum = 0;
  async->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (async->wake < 0 || epoll_ctl(async->epoll, EPOLL_CTL_ADD, async->wake, &event) < 0) errnum = errno;
  if (errnum == 0) errnum = hd_thread(&async->watcher, serve_epoll, async);
  if (errnum == 0) return 0;
  if (async->wake >= 0) close(async->wake);
  async->wake = -1;
  return errnum;
}

/* Returns an errno; all or nothing. */
static int start_watching(napi_env env, struct hd_async *async) {
  if (async->epoll != -1) return 0;
  async->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (async->epoll < 0) return errno;
  async->loop = hd_loop_watch == NULL ? NULL : hd_loop_watch(env, async->epoll, fire_ready);
  int errnum = async->loop != NULL ? 0 : start_thread(async);
  if (errnum == 0) return 0;
  close(async->epoll);
  async->epoll = -1;
  return errnum;
}

/* watch(fd, callback(), held): the watch's id. A held watch keeps the event loop alive. */
static napi_value watch_fd(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  bool held = true;
  struct hd_async *async = hd_async(&call);
  if (call.failed) return NULL;
  napi_get_value_bool(env, call.argument[2], &held);
  int errnum = start_watching(env, async);
  if (errnum != 0) return hd_fail(&call, errnum, "epoll_create1", NULL);
  napi_ref callback = hd_function(&call, 1);
  if (call.failed) return NULL;
  struct hd_watch *watch = calloc(1, sizeof *watch);
  struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = ++async->last_id};
  if (watch == NULL || epoll_ctl(async->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
    errnum = watch == NULL ? ENOMEM : errno;
    napi_delete_reference(env, callback);
    free(watch);
    return hd_fail(&call, errnum, "epoll_ctl", NULL);
  }
  *watch = (struct hd_watch){async->watches, async->last_id, fd, callback, held};
  async->watches = watch;
  if (held) hd_hold(env, async);
  return hd_number(env, watch->id);
}

/* unwatch(id): the callback is not called again. */
static napi_value unwatch(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  uint32_t id = hd_uint(&call, 0);
  struct hd_async *async = hd_instance(env)->async;
  if (call.failed || async == NULL) return NULL;
  struct hd_watch **link = find(async, id), *watch = *link;
  if (watch == NULL) return NULL;
  *link = watch->next;
  epoll_ctl(async->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
  napi_delete_reference(env, watch->callback);
  if (watch->held) hd_release(env, async);
  free(watch);
  return NULL;
}

void hd_stop_watching(struct hd_async *async) {
  if (async->epoll == -1) return;
  if (async->loop == NULL) {
    eventfd_write(async->wake, 1);
    pthread_join(async->watcher, NULL);
    close(async->wake);
  }
  close(async->epoll);
  while (async->watches != NULL) {
    struct hd_watch *watch = async->watches;
    async->watches = watch->next;
    free(watch);
  }
}

void hd_register_watch(napi_env env, napi_value exports) {
  static const struct hd_export list[] = {
      {"watch", watch_fd},
      {"unwatch", unwatch},
  };
  hd_define(env, exports, list, sizeof list / sizeof *list);
}
