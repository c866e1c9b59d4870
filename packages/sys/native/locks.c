/*
 * flock(2), at once or waiting. A wait can last for ever, so each has a thread of its own and never one of the
 * pool: waiters must not keep the holder's own work from running. A wait is ended by a signal to its thread.
 */
#include "heddle.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>

struct hd_lock_wait {
  struct hd_task task;
  struct hd_lock_wait *next;
  struct hd_async *async;
  uint32_t id;
  int fd, operation, errnum;
  pthread_t thread;
  bool delivered;
  atomic_bool cancelled;
  atomic_bool ended;
};

static void ignore(int signal) { (void)signal; }

/* A real-time signal that nobody handles, with a handler that only interrupts. 0 when all are taken. */
static int take_signal(void) {
  for (int signal = SIGRTMAX - 1; signal > SIGRTMIN; signal--) {
    struct sigaction action;
    if (sigaction(signal, NULL, &action) < 0) continue;
    if (action.sa_handler == ignore) return signal;
    if (action.sa_handler != SIG_DFL) continue;
    struct sigaction ours = {.sa_handler = ignore};
    sigemptyset(&ours.sa_mask);
    if (sigaction(signal, &ours, NULL) == 0) return signal;
  }
  return 0;
}

static void *wait_for_lock(void *argument) {
  struct hd_lock_wait *wait = argument;
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, wait->async->interrupt_signal);
  pthread_sigmask(SIG_UNBLOCK, &interrupt, NULL);
  int result;
  do {
    result = flock(wait->fd, wait->operation);
    wait->errnum = result == 0 ? 0 : errno;
  } while (wait->errnum == EINTR && !atomic_load(&wait->cancelled));
  if (wait->errnum == EINTR) wait->errnum = ECANCELED;
  atomic_store(&wait->ended, true);
  wait->delivered = hd_deliver(wait->async, &wait->task);
  return NULL;
}

/* Waits until the thread is past its system call. A signal may come just before the call, so it is repeated. */
static void interrupt(struct hd_lock_wait *wait) {
  const struct timespec pause = {.tv_nsec = 200 * 1000};
  atomic_store(&wait->cancelled, true);
  while (!atomic_load(&wait->ended)) {
    pthread_kill(wait->thread, wait->async->interrupt_signal);
    nanosleep(&pause, NULL);
  }
}

static void finish_wait(napi_env env, struct hd_task *task) {
  struct hd_lock_wait *wait = (struct hd_lock_wait *)task;
  if (env != NULL) {
    struct hd_lock_wait **link = &wait->async->lock_waits;
    while (*link != wait) link = &(*link)->next;
    *link = wait->next;
    pthread_join(wait->thread, NULL);
    hd_settle(env, task, wait->errnum == 0 ? NULL : hd_error(env, wait->errnum, "flock", NULL), NULL);
  }
  free(wait);
}

/* flock(fd, operation): false when LOCK_NB was asked for and it would block. */
static napi_value sys_flock(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int result, fd = hd_int(&call, 0), operation = hd_int(&call, 1);
  if (call.failed) return NULL;
  HD_RETRY(result, flock(fd, operation));
  if (result < 0 && errno != EWOULDBLOCK) return hd_fail(&call, errno, "flock", NULL);
  napi_value locked = NULL;
  napi_get_boolean(env, result == 0, &locked);
  return locked;
}

/* flockWait(fd, operation, callback(error)): the wait's id. */
static napi_value flock_wait(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0), operation = hd_int(&call, 1);
  struct hd_async *async = hd_async(&call);
  if (call.failed) return NULL;
  if (async->interrupt_signal == 0) async->interrupt_signal = take_signal();
  if (async->interrupt_signal == 0) return hd_fail(&call, EAGAIN, "sigaction", NULL);
  struct hd_lock_wait *wait = calloc(1, sizeof *wait);
  if (wait == NULL) return hd_fail(&call, ENOMEM, "flock", NULL);
  napi_ref callback = hd_function(&call, 2);
  if (call.failed) {
    free(wait);
    return NULL;
  }
  wait->task = (struct hd_task){.finish = finish_wait, .callback = callback};
  wait->async = async;
  wait->id = ++async->last_id;
  wait->fd = fd;
  wait->operation = operation;
  int errnum = hd_thread(&wait->thread, wait_for_lock, wait);
  if (errnum != 0) {
    napi_delete_reference(env, callback);
    free(wait);
    return hd_fail(&call, errnum, "pthread_create", NULL);
  }
  wait->next = async->lock_waits;
  async->lock_waits = wait;
  hd_hold(env, async);
  return hd_number(env, wait->id);
}

/* flockCancel(id): the callback then gets ECANCELED, unless the lock had just been taken. */
static napi_value flock_cancel(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  uint32_t id = hd_uint(&call, 0);
  struct hd_async *async = hd_instance(env)->async;
  if (call.failed || async == NULL) return NULL;
  for (struct hd_lock_wait *wait = async->lock_waits; wait != NULL; wait = wait->next) {
    if (wait->id == id) interrupt(wait);
  }
  return NULL;
}

void hd_stop_lock_waits(struct hd_async *async) {
  while (async->lock_waits != NULL) {
    struct hd_lock_wait *wait = async->lock_waits;
    async->lock_waits = wait->next;
    interrupt(wait);
    pthread_join(wait->thread, NULL);
    /* A delivered one is freed from the queue. */
    if (!wait->delivered) free(wait);
  }
}

void hd_register_locks(napi_env env, napi_value exports) {
  static const struct hd_export list[] = {
      {"flock", sys_flock},
      {"flockWait", flock_wait},
      {"flockCancel", flock_cancel},
  };
  hd_define(env, exports, list, sizeof list / sizeof *list);
}
