/*
 * Usage: heddle-crash [OPTION]… -- PROGRAM [ARGUMENT]…
 *        heddle-crash [OPTION]… --attach PID
 *
 *   --kill N       kills PROGRAM, and all that it has started, when it is about to make its N-th call
 *   --hold N       stops them there, until a SIGUSR1 to this program; its own death is theirs
 *   --after        when the call is done, and not before it is begun
 *   --report FILE  where calls are told; standard error without it
 *
 * A call is a system call by which something changes that outlives the process; calls.c says which. Each is a line
 * "call NUMBER PID NAME CALL ABOUT" of the report, with tabs between. "tracer PID" comes before them, then "attached"
 * once all threads of PID are followed; "killed N" or "held N" where that happens; and "end COUNT".
 *
 * Ends as PROGRAM does, by the same signal if it was one. With --attach a SIGTERM lets go of the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash.h"

_Noreturn void crash_fail(const char *what) {
  fprintf(stderr, "heddle-crash: %s: %s\n", what, strerror(errno));
  exit(125);
}

static _Noreturn void refuse(const char *why) {
  fprintf(stderr, "heddle-crash: %s\n", why);
  exit(125);
}

static uint64_t number(const char *text) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0' || value == 0 || text[0] == '-') refuse("a number from 1 is expected");
  return value;
}

static _Noreturn void end_as(int status) {
  if (WIFEXITED(status)) exit(WEXITSTATUS(status));
  /* The program's core is enough. */
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  signal(WTERMSIG(status), SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  raise(WTERMSIG(status));
  exit(128 + WTERMSIG(status));
}

int main(int count, char *arguments[]) {
  static const struct option OPTIONS[] = {{"kill", required_argument, NULL, 'k'},   {"hold", required_argument, NULL, 'h'},
                                          {"after", no_argument, NULL, 'a'},        {"report", required_argument, NULL, 'r'},
                                          {"attach", required_argument, NULL, 'p'}, {NULL, 0, NULL, 0}};
  struct plan plan = {.action = LIST, .report = STDERR_FILENO};
  pid_t process = 0;
  for (int option; (option = getopt_long(count, arguments, "+", OPTIONS, NULL)) != -1;) {
    switch (option) {
      case 'k':
      case 'h':
        plan.action = option == 'k' ? KILL : HOLD;
        plan.point = number(optarg);
        break;
      case 'a':
        plan.after = true;
        break;
      case 'r':
        plan.report = open(optarg, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (plan.report < 0) crash_fail(optarg);
        break;
      case 'p':
        process = (pid_t)number(optarg);
        break;
      default:
        exit(125);
    }
  }
  if ((process == 0) == (optind == count)) refuse("either a program or --attach PID is expected");
  dprintf(plan.report, "tracer %d\n", (int)getpid());
  if (process == 0) end_as(trace_run(&plan, arguments + optind));
  trace_attach(&plan, process);
  return 0;
}
