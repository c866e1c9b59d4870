/*
 * Network namespaces belong to threads. A thread of JavaScript enters another one only inside one synchronous
 * call of this file, and is back before the call returns.
 */
#include "heddle.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not /proc/self: that is the main thread, and the caller may be a worker. */
static const char own_netns[] = "/proc/thread-self/ns/net";

bool hd_enter_netns(int netns, int *home) {
  *home = -1;
  if (netns == -1) return true;
  HD_RETRY(*home, open(own_netns, O_RDONLY | O_CLOEXEC));
  if (*home < 0) return false;
  if (setns(netns, CLONE_NEWNET) == 0) return true;
  int errnum = errno;
  close(*home);
  *home = -1;
  errno = errnum;
  return false;
}

void hd_leave_netns(int home) {
  if (home == -1) return;
  int errnum = errno;
  if (setns(home, CLONE_NEWNET) < 0) {
    fprintf(stderr, "heddle: cannot return to the own network namespace: %s\n", strerror(errno));
    abort();
  }
  close(home);
  errno = errnum;
}

/* runInNetns(netns, function): the function's result. */
static napi_value run_in_netns(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int home, netns = hd_int(&call, 0);
  if (call.failed) return NULL;
  napi_value receiver = NULL, result = NULL;
  napi_get_undefined(env, &receiver);
  if (!hd_enter_netns(netns, &home)) return hd_fail(&call, errno, "setns", NULL);
  hd_instance(env)->away++;
  /* An exception, also the one that ends a worker, stays pending and comes out when this returns. */
  napi_status status = napi_call_function(env, receiver, call.argument[1], 0, NULL, &result);
  hd_instance(env)->away--;
  hd_leave_netns(home);
  if (status != napi_ok && status != napi_pending_exception) {
    napi_throw_type_error(env, NULL, "argument is not a function");
  }
  return result;
}

struct birth {
  int fd;
  int errnum;
  const char *syscall;
};

static void *give_birth(void *argument) {
  struct birth *birth = argument;
  birth->syscall = "unshare";
  if (unshare(CLONE_NEWNET) == 0) {
    birth->syscall = "open";
    HD_RETRY(birth->fd, open(own_netns, O_RDONLY | O_CLOEXEC));
  }
  birth->errnum = errno;
  return NULL;
}

/* createNetns(): a descriptor. A thread of its own is moved into the new namespace and ends there. */
static napi_value create_netns(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  struct birth birth = {.fd = -1};
  pthread_t thread;
  int errnum = hd_thread(&thread, give_birth, &birth);
  if (errnum != 0) return hd_fail(&call, errnum, "pthread_create", NULL);
  pthread_join(thread, NULL);
  if (birth.fd < 0) return hd_fail(&call, birth.errnum, birth.syscall, NULL);
  return hd_number(env, birth.fd);
}

/* The CLONE_NEW… flag of a namespace's descriptor. */
HD_SYSTEM_CALL(namespace_type, "ioctl NS_GET_NSTYPE", NULL, int fd = hd_int(&call, 0), ioctl(fd, NS_GET_NSTYPE))

/* identity(fd): [device, inode] as bigints. */
static napi_value identity(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  if (call.failed) return NULL;
  struct stat facts;
  if (fstat(fd, &facts) < 0) return hd_fail(&call, errno, "fstat", NULL);
  napi_value pair = NULL, device = NULL, inode = NULL;
  napi_create_array_with_length(env, 2, &pair);
  napi_create_bigint_uint64(env, facts.st_dev, &device);
  napi_create_bigint_uint64(env, facts.st_ino, &inode);
  napi_set_element(env, pair, 0, device);
  napi_set_element(env, pair, 1, inode);
  return pair;
}

void hd_register_netns(napi_env env, napi_value exports) {
  static const struct hd_export list[] = {
      {"runInNetns", run_in_netns},
      {"createNetns", create_netns},
      {"namespaceType", namespace_type},
      {"identity", identity},
  };
  hd_define(env, exports, list, sizeof list / sizeof *list);
}
