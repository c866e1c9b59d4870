/*
 * Threads of our own, never libuv's pool, and the one way back to JavaScript. All of it comes into being with
 * the first asynchronous call: a plugin that lives for milliseconds never pays for it.
 */
#include "heddle.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { STACK = 512 * 1024, MOST_THREADS = sizeof((struct hd_async *)0)->thread / sizeof(pthread_t) };

int hd_thread(pthread_t *thread, void *(*body)(void *), void *argument) {
  pthread_attr_t attributes;
  sigset_t all, before;
  int errnum = pthread_attr_init(&attributes);
  if (errnum != 0) return errnum;
  pthread_attr_setstacksize(&attributes, STACK);
  /* A new thread has the mask of its maker: signals stay with the threads of the host program. */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  errnum = pthread_create(thread, &attributes, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return errnum;
}

static void *serve_pool(void *argument) {
  struct hd_async *async = argument;
  pthread_mutex_lock(&async->lock);
  for (;;) {
    async->idle++;
    while (async->first == NULL && !async->stopping) pthread_cond_wait(&async->work, &async->lock);
    async->idle--;
    if (async->stopping) break;
    struct hd_task *task = async->first;
    async->first = task->next;
    if (async->first == NULL) async->tail = &async->first;
    async->queued--;
    pthread_mutex_unlock(&async->lock);
    task->run(task);
    if (!hd_deliver(async, task)) task->finish(NULL, task);
    pthread_mutex_lock(&async->lock);
  }
  pthread_mutex_unlock(&async->lock);
  return NULL;
}

int hd_submit(struct hd_async *async, struct hd_task *task) {
  int errnum = 0;
  pthread_mutex_lock(&async->lock);
  if (async->queued >= async->idle && async->threads < MOST_THREADS) {
    errnum = hd_thread(&async->thread[async->threads], serve_pool, async);
    if (errnum == 0) async->threads++;
    if (async->threads > 0) errnum = 0;
  }
  if (errnum == 0) {
    task->next = NULL;
    *async->tail = task;
    async->tail = &task->next;
    async->queued++;
    pthread_cond_signal(&async->work);
  }
  pthread_mutex_unlock(&async->lock);
  return errnum;
}

bool hd_deliver(struct hd_async *async, struct hd_task *task) {
  return napi_call_threadsafe_function(async->deliver, task, napi_tsfn_nonblocking) == napi_ok;
}

static void deliver(napi_env env, napi_value function, void *context, void *data) {
  (void)function;
  (void)context;
  struct hd_task *task = data;
  task->finish(env != NULL && hd_instance(env)->async != NULL ? env : NULL, task);
}

void hd_hold(napi_env env, struct hd_async *async) {
  if (async->pending++ == 0) napi_ref_threadsafe_function(env, async->deliver);
}

void hd_release(napi_env env, struct hd_async *async) {
  if (--async->pending == 0) napi_unref_threadsafe_function(env, async->deliver);
}

void hd_callback(napi_env env, napi_ref callback, napi_value error, napi_value value) {
  napi_value function = NULL, receiver = NULL, exception = NULL;
  bool pending = false;
  napi_get_undefined(env, &receiver);
  napi_get_reference_value(env, callback, &function);
  napi_value arguments[] = {error == NULL ? receiver : error, value == NULL ? receiver : value};
  napi_call_function(env, receiver, function, 2, arguments, NULL);
  napi_is_exception_pending(env, &pending);
  if (pending && napi_get_and_clear_last_exception(env, &exception) == napi_ok) {
    napi_fatal_exception(env, exception);
  }
}

void hd_settle(napi_env env, struct hd_task *task, napi_value error, napi_value value) {
  hd_release(env, hd_instance(env)->async);
  hd_callback(env, task->callback, error, value);
  napi_delete_reference(env, task->callback);
}

/* The environment ends: no thread of ours may be alive when this returns. */
static void stop(void *argument) {
  struct hd_instance *instance = argument;
  struct hd_async *async = instance->async;
  instance->async = NULL;
  pthread_mutex_lock(&async->lock);
  async->stopping = true;
  pthread_cond_broadcast(&async->work);
  pthread_mutex_unlock(&async->lock);
  for (unsigned i = 0; i < async->threads; i++) pthread_join(async->thread[i], NULL);
  while (async->first != NULL) {
    struct hd_task *task = async->first;
    async->first = task->next;
    task->finish(NULL, task);
  }
  hd_stop_lock_waits(async);
  hd_stop_watching(async);
  pthread_cond_destroy(&async->work);
  pthread_mutex_destroy(&async->lock);
  free(async);
}

struct hd_async *hd_async(struct hd_call *call) {
  if (call->failed) return NULL;
  struct hd_instance *instance = hd_instance(call->env);
  if (instance->away > 0) {
    hd_fail(call, EBUSY, "asynchronous call inside runInNetns", NULL);
    return NULL;
  }
  if (instance->async != NULL) return instance->async;
  struct hd_async *async = calloc(1, sizeof *async);
  napi_value name = NULL;
  napi_create_string_utf8(call->env, "heddle", NAPI_AUTO_LENGTH, &name);
  if (async == NULL || napi_create_threadsafe_function(call->env, NULL, NULL, name, 0, 1, NULL, NULL, NULL,
                                                       deliver, &async->deliver) != napi_ok) {
    free(async);
    hd_fail(call, ENOMEM, "napi_create_threadsafe_function", NULL);
    return NULL;
  }
  napi_unref_threadsafe_function(call->env, async->deliver);
  pthread_mutex_init(&async->lock, NULL);
  pthread_cond_init(&async->work, NULL);
  async->tail = &async->first;
  async->epoll = async->wake = -1;
  instance->async = async;
  /* Hooks run in reverse: ours, added after the function's own, stops the threads while it still exists. */
  napi_add_env_cleanup_hook(call->env, stop, instance);
  return async;
}
