/* Other programs, for src/host/child_process.ts. */
#include "host.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A list of strings, ended by NULL, in one block of memory. NULL with an exception pending. */
static char **get_strings(JSContext *context, JSValueConst array) {
  int64_t length = 0;
  if (JS_GetLength(context, array, &length) < 0) return NULL;
  char **list = js_calloc(context, (size_t)length + 1, sizeof *list);
  if (list == NULL) return NULL;
  for (int64_t i = 0; i < length; i++) {
    JSValue value = JS_GetPropertyInt64(context, array, i);
    list[i] = (char *)JS_ToCString(context, value);
    JS_FreeValue(context, value);
  }
  return list;
}

static void free_strings(JSContext *context, char **list) {
  if (list == NULL) return;
  for (char **each = list; *each != NULL; each++) JS_FreeCString(context, *each);
  js_free(context, list);
}

/* Signals as a program expects to find them. */
static void default_signals(posix_spawnattr_t *attributes, bool detached) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setsigdefault(attributes, &all);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (detached ? POSIX_SPAWN_SETSID : 0);
  posix_spawnattr_setflags(attributes, (short)flags);
}

/* Returns an errno. The descriptors are first moved out of the way of those that they become. */
static int start(pid_t *pid, const char *program, char **words, char **environment, const int *descriptors,
                 bool detached) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  int moved[3], errnum = 0;
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_init(&actions);
  default_signals(&attributes, detached);
  for (int i = 0; i < 3; i++) {
    moved[i] = fcntl(descriptors[i], F_DUPFD_CLOEXEC, 3);
    if (moved[i] < 0) errnum = errno;
    if (errnum == 0) errnum = posix_spawn_file_actions_adddup2(&actions, moved[i], i);
  }
  if (errnum == 0) errnum = posix_spawnp(pid, program, &actions, &attributes, words, environment);
  for (int i = 0; i < 3; i++) {
    if (moved[i] >= 0) close(moved[i]);
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return errnum;
}

/* (program, words, environment or undefined, descriptors, detached): the process's number. */
HOST_FUNCTION(spawn) {
  struct host_path program;
  int descriptors[3];
  pid_t pid;
  if (!host_get_path(context, argument[0], &program)) return JS_EXCEPTION;
  for (uint32_t i = 0; i < 3; i++) {
    descriptors[i] = host_get_int(context, JS_GetPropertyUint32(context, argument[3], i));
  }
  bool inherits = JS_IsUndefined(argument[2]);
  char **words = get_strings(context, argument[1]);
  char **environment = inherits ? NULL : get_strings(context, argument[2]);
  int errnum = ENOMEM;
  if (words != NULL && (inherits || environment != NULL)) {
    errnum = start(&pid, program.text, words, inherits ? environ : environment, descriptors,
                   JS_ToBool(context, argument[4]) != 0);
  }
  free_strings(context, words);
  free_strings(context, environment);
  if (JS_HasException(context)) return JS_EXCEPTION;
  return errnum == 0 ? JS_NewInt32(context, pid) : host_fail(context, errnum, "spawn", program.text);
}

/* (process): a descriptor that is readable when it has ended. */
HOST_FUNCTION(pid_fd) {
  int fd = (int)syscall(SYS_pidfd_open, host_get_int(context, argument[0]), 0);
  return fd < 0 ? host_fail(context, errno, "pidfd_open", NULL) : JS_NewInt32(context, fd);
}

/* (process): the status it ended with. */
HOST_FUNCTION(wait_for) {
  int status, result;
  HOST_RETRY(result, waitpid(host_get_int(context, argument[0]), &status, 0));
  return result < 0 ? host_fail(context, errno, "waitpid", NULL) : JS_NewInt32(context, status);
}

/* Both ends. */
HOST_FUNCTION(make_pipe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return host_fail(context, errno, "pipe2", NULL);
  JSValue pair = JS_NewArray(context);
  for (uint32_t i = 0; i < 2; i++) JS_SetPropertyUint32(context, pair, i, JS_NewInt32(context, ends[i]));
  return pair;
}

HOST_FUNCTION(memory_file) {
  int fd = memfd_create("heddle", MFD_CLOEXEC);
  return fd < 0 ? host_fail(context, errno, "memfd_create", NULL) : JS_NewInt32(context, fd);
}

/* (fd): its calls return at once from now on. */
HOST_FUNCTION(unblock) {
  int fd = host_get_int(context, argument[0]);
  if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0) return JS_UNDEFINED;
  return host_fail(context, errno, "fcntl", NULL);
}

void host_register_children(JSContext *context, JSValueConst host) {
  static const JSCFunctionListEntry functions[] = {
      JS_CFUNC_DEF("spawn", 5, spawn),           JS_CFUNC_DEF("pidFd", 1, pid_fd),
      JS_CFUNC_DEF("wait", 1, wait_for),         JS_CFUNC_DEF("pipe", 0, make_pipe),
      JS_CFUNC_DEF("memoryFile", 0, memory_file), JS_CFUNC_DEF("unblock", 1, unblock),
  };
  JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
