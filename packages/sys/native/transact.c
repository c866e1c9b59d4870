/*
 * A netlink request and its whole answer. The kernel works inside send() and has queued every reply, or the
 * first part of a dump, when that returns; each recv() of a dump queues the next part before it returns. So
 * receiving until EAGAIN collects everything, and nothing here needs to know what the bytes mean.
 */
#include "heddle.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The kernel makes the parts of a dump as large as the receive buffers it has seen, up to 32 KiB. */
enum { LEAST_ROOM = 32 * 1024, FIRST_ROOM = 3 * LEAST_ROOM };

static bool make_room(struct hd_answer *answer, size_t room) {
  if (answer->capacity - answer->size < room) {
    /* An answer is seldom larger than the first room, which so is not copied into another. */
    size_t capacity = answer->capacity == 0 ? FIRST_ROOM : answer->capacity * 2;
    if (capacity < answer->size + room) capacity = answer->size + room;
    uint8_t *data = realloc(answer->data, capacity);
    if (data == NULL) return false;
    answer->data = data;
    answer->capacity = capacity;
  }
  if (answer->count == answer->slots) {
    size_t slots = answer->slots == 0 ? 16 : answer->slots * 2;
    size_t *end = realloc(answer->end, slots * sizeof *end);
    if (end == NULL) return false;
    answer->end = end;
    answer->slots = slots;
  }
  return true;
}

/* One datagram, whole. Returns an errno: EAGAIN when there is none. */
static int receive(int fd, struct hd_answer *answer) {
  ssize_t size;
  HD_RETRY(size, recv(fd, NULL, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT));
  if (size < 0) return errno;
  if (!make_room(answer, size > LEAST_ROOM ? (size_t)size : LEAST_ROOM)) return ENOMEM;
  HD_RETRY(size, recv(fd, answer->data + answer->size, answer->capacity - answer->size, MSG_DONTWAIT));
  if (size < 0) return errno;
  answer->size += (size_t)size;
  answer->end[answer->count++] = answer->size;
  return 0;
}

/* Returns an errno and the call that it is from. */
static int transact(int fd, const uint8_t *request, size_t size, struct hd_answer *answer, const char **syscall) {
  ssize_t sent;
  *syscall = "send";
  HD_RETRY(sent, send(fd, request, size, MSG_NOSIGNAL));
  if (sent < 0) return errno;
  *syscall = "recv";
  int overrun = 0;
  for (;;) {
    int errnum = receive(fd, answer);
    if (errnum == EAGAIN) return overrun;
    /* Messages were lost. The rest is taken off the queue, so that the socket is clean for a new request. */
    if (errnum == ENOBUFS) {
      overrun = errnum;
    } else if (errnum != 0) {
      return errnum;
    }
  }
}

static void free_answer(struct hd_answer *answer) {
  free(answer->data);
  free(answer->end);
}

/* One buffer for JavaScript, and one view of it per datagram. */
static napi_value answer_value(napi_env env, const struct hd_answer *answer) {
  napi_value buffer = NULL, list = NULL;
  void *data = NULL;
  if (napi_create_arraybuffer(env, answer->size, &data, &buffer) != napi_ok) return NULL;
  if (answer->size > 0) memcpy(data, answer->data, answer->size);
  napi_create_array_with_length(env, answer->count, &list);
  size_t start = 0;
  for (size_t i = 0; i < answer->count; i++) {
    napi_value view = NULL;
    napi_create_typedarray(env, napi_uint8_array, answer->end[i] - start, buffer, start, &view);
    napi_set_element(env, list, (uint32_t)i, view);
    start = answer->end[i];
  }
  return list;
}

/* transactSync(fd, request): the datagrams. The room for them is the environment's, from one exchange to the next. */
static napi_value transact_sync(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  struct hd_bytes request = hd_bytes(&call, 1);
  if (call.failed) return NULL;
  struct hd_answer *kept = &hd_instance(env)->answer, answer = *kept;
  answer.size = answer.count = 0;
  *kept = (struct hd_answer){0};
  const char *syscall;
  int errnum = transact(fd, request.data, request.size, &answer, &syscall);
  napi_value result = NULL;
  if (errnum != 0) {
    hd_fail(&call, errnum, syscall, NULL);
  } else {
    result = answer_value(env, &answer);
  }
  if (answer.capacity > FIRST_ROOM) free_answer(&answer);
  else *kept = answer;
  return result;
}

struct exchange {
  struct hd_task task;
  int fd;
  int errnum;
  const char *syscall;
  struct hd_answer answer;
  size_t size;
  uint8_t request[];
};

static void run_exchange(struct hd_task *task) {
  struct exchange *exchange = (struct exchange *)task;
  exchange->errnum =
      transact(exchange->fd, exchange->request, exchange->size, &exchange->answer, &exchange->syscall);
}

static void finish_exchange(napi_env env, struct hd_task *task) {
  struct exchange *exchange = (struct exchange *)task;
  if (env != NULL) {
    napi_value error = NULL, value = NULL;
    if (exchange->errnum != 0) {
      error = hd_error(env, exchange->errnum, exchange->syscall, NULL);
    } else {
      value = answer_value(env, &exchange->answer);
    }
    hd_settle(env, task, error, value);
  }
  free_answer(&exchange->answer);
  free(exchange);
}

/* transact(fd, request, callback(error, datagrams)): the same, on a thread. */
static napi_value transact_async(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  struct hd_bytes request = hd_bytes(&call, 1);
  struct hd_async *async = hd_async(&call);
  napi_ref callback = hd_function(&call, 2);
  if (call.failed) return NULL;
  struct exchange *exchange = calloc(1, sizeof *exchange + request.size);
  int errnum = ENOMEM;
  if (exchange != NULL) {
    exchange->task = (struct hd_task){.run = run_exchange, .finish = finish_exchange, .callback = callback};
    exchange->fd = fd;
    exchange->size = request.size;
    memcpy(exchange->request, request.data, request.size);
    errnum = hd_submit(async, &exchange->task);
  }
  if (errnum != 0) {
    free(exchange);
    napi_delete_reference(env, callback);
    return hd_fail(&call, errnum, "pthread_create", NULL);
  }
  hd_hold(env, async);
  return NULL;
}

void hd_register_transact(napi_env env, napi_value exports) {
  static const struct hd_export list[] = {
      {"transactSync", transact_sync},
      {"transact", transact_async},
  };
  hd_define(env, exports, list, sizeof list / sizeof *list);
}
