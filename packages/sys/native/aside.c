/*
 * Requests that are sent, and sockets that are closed, by a process of its own, for a caller that will have ended before
 * the kernel is through with them. Some keep whoever makes them in the kernel for tens of milliseconds after all that
 * they are about is done; a thread would not help, because a process has not ended before its threads have.
 *
 * The process shares the memory of the caller, so that starting it copies nothing, but not its descriptors: first it
 * closes all but the socket, and so holds no pipe, lock or namespace that somebody waits for the end of.
 */
#include "heddle.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 16 * 1024, PATIENCE = 50 /* milliseconds */ };

struct aside {
  int fd;
  pid_t caller;
  size_t request_size;
  _Alignas(16) uint8_t stack[STACK];
  uint8_t request[];
};

/*
 * What every such process begins with. It has errno in common with the caller, who does nothing meanwhile that would set
 * it. Its memory is given back when both have ended.
 */
static void keep_only(int fd) {
  /* Whoever signals the caller's group, or waits for its directory, means the caller. */
  setsid();
  if (chdir("/") < 0) _exit(1);
  if (fd > 0 && syscall(SYS_close_range, 0, fd - 1, 0) < 0) _exit(1);
  if (syscall(SYS_close_range, fd + 1, ~0U, 0) < 0) _exit(1);
}

static int send_and_end(void *argument) {
  const struct aside *aside = argument;
  keep_only(aside->fd);
  _exit(send(aside->fd, aside->request, aside->request_size, MSG_NOSIGNAL) < 0);
}

static int outlive_caller(void *argument) {
  const struct aside *aside = argument;
  keep_only(aside->fd);
  struct pollfd caller = {.fd = (int)syscall(SYS_pidfd_open, aside->caller, 0), .events = POLLIN};
  /* The number is the caller's as long as that has not ended; then, nobody is waited for. */
  if (caller.fd >= 0 && getppid() == aside->caller) poll(&caller, 1, -1);
  /*
   * The kernel works off what there is to do by itself, soon. A close that waits for it would have others wait for the
   * close: that of a socket of nf_tables, for one, holds off every transaction meanwhile.
   */
  poll(NULL, 0, PATIENCE);
  _exit(0);
}

/* A descriptor of the process, or -1 with the call that failed. */
static int start(int (*body)(void *), int fd, struct hd_bytes request, const char **syscall) {
  size_t size = sizeof(struct aside) + request.size;
  *syscall = "mmap";
  struct aside *aside = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (aside == MAP_FAILED) return -1;
  aside->fd = fd;
  aside->caller = getpid();
  aside->request_size = request.size;
  memcpy(aside->request, request.data, request.size);
  int process = -1;
  *syscall = "clone";
  if (clone(body, aside->stack + STACK, CLONE_VM | CLONE_PIDFD | SIGCHLD, aside, &process) < 0) {
    int errnum = errno;
    munmap(aside, size);
    errno = errnum;
    return -1;
  }
  return process;
}

/* sendAside(fd, request): a descriptor of the process, which is readable when that has ended. */
static napi_value send_aside(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  struct hd_bytes request = hd_bytes(&call, 1);
  const char *syscall;
  if (call.failed) return NULL;
  int process = start(send_and_end, fd, request, &syscall);
  return process < 0 ? hd_fail(&call, errno, syscall, NULL) : hd_number(env, process);
}

/* holdAside(fd): the file is not closed before the caller has ended. Where no process can be started, it is. */
static napi_value hold_aside(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  const char *syscall;
  if (call.failed) return NULL;
  int process = start(outlive_caller, fd, (struct hd_bytes){(const uint8_t *)"", 0}, &syscall);
  if (process >= 0) close(process);
  return NULL;
}

/* awaitAside(fd, process): true when there is something to receive, false when nothing will come any more. */
static napi_value await_aside(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0), process = hd_int(&call, 1), ready;
  if (call.failed) return NULL;
  struct pollfd awaited[] = {{.fd = fd, .events = POLLIN}, {.fd = process, .events = POLLIN}};
  HD_RETRY(ready, poll(awaited, 2, -1));
  if (ready < 0) return hd_fail(&call, errno, "poll", NULL);
  bool has_ended = awaited[1].revents != 0;
  /* What it was answered has come before its end. */
  if (has_ended && awaited[0].revents == 0) poll(awaited, 1, 0);
  if (has_ended) waitid(P_PIDFD, (id_t)process, NULL, WEXITED | WNOHANG);
  napi_value answer = NULL;
  napi_get_boolean(env, awaited[0].revents != 0, &answer);
  return answer;
}

void hd_register_aside(napi_env env, napi_value exports) {
  static const struct hd_export list[] = {{"sendAside", send_aside}, {"awaitAside", await_aside}, {"holdAside", hold_aside}};
  hd_define(env, exports, list, sizeof list / sizeof *list);
}
