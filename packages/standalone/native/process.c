/* The process itself: its end, its clock, its signals. */
#include "host.h"

#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* As process.arch has it. */
#ifdef __aarch64__
#define HOST_ARCH "arm64"
#else
#define HOST_ARCH "x64"
#endif

HOST_FUNCTION(sys_exit) { _exit(host_get_int(context, argument[0])); }

HOST_FUNCTION(pid) { return JS_NewInt32(context, getpid()); }

HOST_FUNCTION(uid) { return JS_NewInt64(context, getuid()); }

HOST_FUNCTION(is_terminal) { return JS_NewBool(context, isatty(host_get_int(context, argument[0]))); }

HOST_FUNCTION(sys_kill) {
  if (kill(host_get_int(context, argument[0]), host_get_int(context, argument[1])) == 0) return JS_UNDEFINED;
  return host_fail(context, errno, "kill", NULL);
}

/* (signal): a descriptor that is readable when it was sent. */
HOST_FUNCTION(signal_fd) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, host_get_int(context, argument[0]));
  sigprocmask(SIG_BLOCK, &set, NULL);
  int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return fd < 0 ? host_fail(context, errno, "signalfd", NULL) : JS_NewInt32(context, fd);
}

HOST_FUNCTION(signal_name) {
  char name[32] = "SIG";
  const char *rest = sigabbrev_np(host_get_int(context, argument[0]));
  strncat(name, rest == NULL ? "UNKNOWN" : rest, sizeof name - 4);
  return JS_NewString(context, name);
}

/* Milliseconds of a clock that nobody sets. */
HOST_FUNCTION(now) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return JS_NewFloat64(context, (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6);
}

/* (bytes): filled with chance. */
HOST_FUNCTION(fill_random) {
  size_t size;
  uint8_t *bytes = JS_GetUint8Array(context, &size, argument[0]);
  if (bytes == NULL && JS_HasException(context)) return JS_EXCEPTION;
  for (size_t done = 0; done < size;) {
    ssize_t got;
    HOST_RETRY(got, getrandom(bytes + done, size - done, 0));
    if (got < 0) return host_fail(context, errno, "getrandom", NULL);
    done += (size_t)got;
  }
  return JS_DupValue(context, argument[0]);
}

HOST_FUNCTION(run_jobs) {
  host_run_jobs(context);
  return JS_UNDEFINED;
}

HOST_FUNCTION(is_held) { return JS_NewBool(context, host_is_held(JS_GetContextOpaque(context))); }

HOST_FUNCTION(addon) { return host_addon(JS_GetContextOpaque(context)); }

void host_register_process(JSContext *context, JSValueConst host) {
  static const JSCFunctionListEntry functions[] = {
      JS_CFUNC_DEF("exit", 1, sys_exit),           JS_CFUNC_DEF("pid", 0, pid),
      JS_CFUNC_DEF("uid", 0, uid),                 JS_CFUNC_DEF("kill", 2, sys_kill),
      JS_CFUNC_DEF("signalFd", 1, signal_fd),      JS_CFUNC_DEF("signalName", 1, signal_name),
      JS_CFUNC_DEF("now", 0, now),                 JS_CFUNC_DEF("fillRandom", 1, fill_random),
      JS_CFUNC_DEF("runJobs", 0, run_jobs),        JS_CFUNC_DEF("addon", 0, addon),
      JS_CFUNC_DEF("isHeld", 0, is_held),
      JS_CFUNC_DEF("isTerminal", 1, is_terminal),
      JS_PROP_STRING_DEF("arch", HOST_ARCH, JS_PROP_ENUMERABLE),
  };
  JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
