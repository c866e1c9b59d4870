/*
 * Namespaces of mounts, and those that new processes are born in. Like network namespaces they are entered within one
 * synchronous call only, and left before it returns.
 */
#include "heddle.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct place {
  int kind; /* CLONE_NEWNS or CLONE_NEWPID */
  int home;
  int directory; /* setns(2) moves a thread that changes mounts to their root */
};

static const char *own_namespace(int kind) {
  return kind == CLONE_NEWNS ? "/proc/thread-self/ns/mnt" : "/proc/thread-self/ns/pid";
}

static void forget(struct place *place) {
  int errnum = errno;
  if (place->home >= 0) close(place->home);
  if (place->directory >= 0) close(place->directory);
  errno = errnum;
}

static bool enter(int fd, struct place *place) {
  HD_RETRY(place->home, open(own_namespace(place->kind), O_RDONLY | O_CLOEXEC));
  if (place->home < 0) return false;
  if (place->kind == CLONE_NEWNS) {
    HD_RETRY(place->directory, open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    /* Threads that have root and working directory in common cannot be in mounts of their own. */
    if (place->directory < 0 || unshare(CLONE_FS) < 0) return false;
  }
  return (fd == -1 ? unshare(place->kind) : setns(fd, place->kind)) == 0;
}

static void leave(struct place *place) {
  bool back = setns(place->home, place->kind) == 0;
  if (back && place->kind == CLONE_NEWNS) back = fchdir(place->directory) == 0;
  if (!back) {
    fprintf(stderr, "heddle: cannot return to the own namespace: %s\n", strerror(errno));
    abort();
  }
  forget(place);
}

/* runInNamespace(fd, kind, function): the function's result. A descriptor of -1 is for a new namespace. */
static napi_value run_in_namespace(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  struct place place = {.kind = (int)hd_uint(&call, 1), .home = -1, .directory = -1};
  if (call.failed) return NULL;
  if (place.kind != CLONE_NEWNS && place.kind != CLONE_NEWPID) return hd_fail(&call, EINVAL, "setns", NULL);
  if (!enter(fd, &place)) {
    forget(&place);
    return hd_fail(&call, errno, fd == -1 ? "unshare" : "setns", NULL);
  }
  napi_value receiver = NULL, result = NULL;
  napi_get_undefined(env, &receiver);
  hd_instance(env)->away++;
  napi_status status = napi_call_function(env, receiver, call.argument[2], 0, NULL, &result);
  hd_instance(env)->away--;
  leave(&place);
  if (status != napi_ok && status != napi_pending_exception) {
    napi_throw_type_error(env, NULL, "argument is not a function");
  }
  return result;
}

/* reap(process): 0 while it runs. */
HD_SYSTEM_CALL(reap, "waitpid", NULL, int process = hd_int(&call, 0), waitpid(process, NULL, WNOHANG))

void hd_register_namespaces(napi_env env, napi_value exports) {
  static const struct hd_export list[] = {{"runInNamespace", run_in_namespace}, {"reap", reap}};
  hd_define(env, exports, list, sizeof list / sizeof *list);
}
