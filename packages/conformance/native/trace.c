/* Follows processes by ptrace(2) from call to call, and does at one of them what is planned. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash.h"

#define SYSCALL_STOP (SIGTRAP | 0x80)
enum {
  OPTIONS = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
            PTRACE_O_TRACEEXEC
};

struct tracee {
  pid_t thread, process;
  bool is_due;     /* in the call at whose end it happens */
  bool is_again;   /* its next call is one that a signal has broken off */
  bool is_awaited; /* was attached to, and has not stopped yet */
  bool waits;      /* stopped until all go on */
  int signal;      /* what it gets then */
};

/* What there is between the calls of trace_run or trace_attach: one such at a time. */
static struct {
  const struct plan *plan;
  struct tracee *tracees;
  size_t count, room;
  uint64_t calls;
  enum { FOLLOWING, HOLDING, LEAVING, KILLING } state;
  size_t awaited;
} all;

static void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void report(const char *format, ...) {
  va_list values;
  va_start(values, format);
  if (vdprintf(all.plan->report, format, values) < 0) crash_fail("write the report");
  va_end(values);
}

static struct tracee *find(pid_t thread) {
  for (size_t i = 0; i < all.count; i++)
    if (all.tracees[i].thread == thread) return &all.tracees[i];
  return NULL;
}

static struct tracee *find_or_add(pid_t thread) {
  struct tracee *found = find(thread);
  if (found != NULL) return found;
  if (all.count == all.room) {
    all.room = all.room * 2 + 16;
    all.tracees = realloc(all.tracees, all.room * sizeof *all.tracees);
    if (all.tracees == NULL) crash_fail("realloc");
  }
  all.tracees[all.count] = (struct tracee){.thread = thread, .process = tracee_process(thread)};
  return &all.tracees[all.count++];
}

static void see(struct tracee *tracee) {
  if (!tracee->is_awaited) return;
  tracee->is_awaited = false;
  if (--all.awaited == 0) report("attached\n");
}

static void forget(pid_t thread) {
  struct tracee *found = find(thread);
  if (found == NULL) return;
  see(found);
  *found = all.tracees[--all.count];
}

/* A thread that a SIGKILL has hit meanwhile is no error: its end is told next. */
static void ask(enum __ptrace_request request, const struct tracee *tracee, long data) {
  if (ptrace(request, tracee->thread, 0, data) < 0 && errno != ESRCH) crash_fail("ptrace");
}

static void kill_all(void) {
  all.state = KILLING;
  for (size_t i = 0; i < all.count; i++) kill(all.tracees[i].process, SIGKILL);
}

static void interrupt_all(const struct tracee *but) {
  for (size_t i = 0; i < all.count; i++)
    if (&all.tracees[i] != but) ask(PTRACE_INTERRUPT, &all.tracees[i], 0);
}

static void go_on(struct tracee *tracee, int signal) {
  switch (all.state) {
    case FOLLOWING:
      ask(PTRACE_SYSCALL, tracee, signal);
      return;
    case HOLDING:
      tracee->waits = true;
      tracee->signal = signal;
      return;
    case LEAVING:
      ask(PTRACE_DETACH, tracee, signal);
      forget(tracee->thread);
      return;
    case KILLING:
      kill(tracee->process, SIGKILL);
      return;
  }
}

static void resume_all(void) {
  if (all.state != HOLDING) return;
  all.state = FOLLOWING;
  for (size_t i = 0; i < all.count; i++) {
    if (!all.tracees[i].waits) continue;
    all.tracees[i].waits = false;
    go_on(&all.tracees[i], all.tracees[i].signal);
  }
}

static void leave_all(void) {
  resume_all();
  all.state = LEAVING;
  interrupt_all(NULL);
}

static void happen(const struct tracee *tracee) {
  if (all.plan->action == KILL) {
    report("killed %llu\n", (unsigned long long)all.plan->point);
    kill_all();
  } else {
    report("held %llu\n", (unsigned long long)all.plan->point);
    all.state = HOLDING;
    interrupt_all(tracee);
  }
}

static void name_of(pid_t process, char *into, size_t room) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/comm", (int)process);
  FILE *file = fopen(path, "re");
  if (file == NULL || fgets(into, (int)room, file) == NULL) into[0] = '\0';
  if (file != NULL) fclose(file);
  into[strcspn(into, "\n\t")] = '\0';
}

static void enter_call(struct tracee *tracee, const struct __ptrace_syscall_info *info) {
  uint64_t arguments[6];
  for (int i = 0; i < 6; i++) arguments[i] = info->entry.args[i];
  struct entry entry = {tracee->thread, tracee->process, info->entry.nr, arguments};
  struct words words;
  char name[32];
  if (tracee->is_again) {
    tracee->is_again = false;
    return;
  }
  if (!calls_changes(&entry, &words)) return;
  all.calls++;
  name_of(tracee->process, name, sizeof name);
  report("call %llu\t%d\t%s\t%s\t%s\n", (unsigned long long)all.calls, (int)tracee->process, name, words.name, words.about);
  if (all.plan->action == LIST || all.calls != all.plan->point) return;
  if (all.plan->after) tracee->is_due = true;
  else happen(tracee);
}

/* ERESTARTSYS and its like, which only tracers see: the kernel makes the call once more. */
static bool is_restarted(int64_t value) { return value <= -512 && value >= -516; }

static void leave_call(struct tracee *tracee, const struct __ptrace_syscall_info *info) {
  tracee->is_again = is_restarted(info->exit.rval);
  if (!tracee->is_due || tracee->is_again) return;
  tracee->is_due = false;
  happen(tracee);
}

/* The same by the registers, where the kernel does not tell by itself: user-mode Linux. */
static bool call_by_registers(pid_t thread, struct __ptrace_syscall_info *info) {
#ifdef __x86_64__
  struct user_regs_struct of;
  unsigned long which;
  if (ptrace(PTRACE_GETEVENTMSG, thread, 0, &which) < 0 || ptrace(PTRACE_GETREGS, thread, 0, &of) < 0) return false;
  info->op = (uint8_t)which;
  /* PTRACE_EVENTMSG_SYSCALL_ENTRY and _EXIT of linux/ptrace.h are the same numbers. */
  if (info->op == PTRACE_SYSCALL_INFO_ENTRY) {
    const uint64_t arguments[6] = {of.rdi, of.rsi, of.rdx, of.r10, of.r8, of.r9};
    info->entry.nr = of.orig_rax;
    memcpy(info->entry.args, arguments, sizeof arguments);
  } else {
    info->exit.rval = (int64_t)of.rax;
  }
  return true;
#else
  (void)thread, (void)info;
  crash_fail("ptrace: this kernel does not tell of calls");
#endif
}

static bool call_of(pid_t thread, struct __ptrace_syscall_info *info) {
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof *info, info) > 0) return true;
  return errno == EIO && call_by_registers(thread, info);
}

static void at_call(struct tracee *tracee) {
  struct __ptrace_syscall_info info;
  if (call_of(tracee->thread, &info) && all.state == FOLLOWING) {
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) enter_call(tracee, &info);
    else if (info.op == PTRACE_SYSCALL_INFO_EXIT) leave_call(tracee, &info);
  }
  go_on(tracee, 0);
}

static bool is_start(int event) {
  return event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE;
}

static void at_stop(pid_t thread, int status) {
  struct tracee *tracee = find_or_add(thread);
  int signal = WSTOPSIG(status), event = status >> 16;
  see(tracee);
  if (event == 0 && signal == SYSCALL_STOP) {
    at_call(tracee);
  } else if (event == 0) {
    go_on(tracee, signal);
  } else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP && all.state == FOLLOWING) {
    /* It is stopped as by job control, and stays so. */
    ask(PTRACE_LISTEN, tracee, 0);
  } else {
    unsigned long other = 0;
    bool is_told = ptrace(PTRACE_GETEVENTMSG, thread, 0, &other) == 0;
    if (event == PTRACE_EVENT_EXEC && is_told && (pid_t)other != thread) forget((pid_t)other);
    /* What was started counts from now on: who started it may have ended before it first stops, or it has ended itself. */
    if (is_start(event) && is_told && tracee_is_ours((pid_t)other)) find_or_add((pid_t)other);
    /* The table may have moved what was found. */
    go_on(find_or_add(thread), 0);
  }
}

/* Until nobody is left. The status of the first process; whoever outlives it is let go of. */
static int follow(pid_t first, const sigset_t *signals) {
  int result = 0;
  while (all.count > 0) {
    int status, signal = sigwaitinfo(signals, NULL);
    pid_t thread;
    if (signal == SIGUSR1) resume_all();
    if (signal == SIGTERM || signal == SIGINT) {
      if (first == 0) leave_all();
      else kill_all();
    }
    while ((thread = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
      if (WIFSTOPPED(status)) {
        at_stop(thread, status);
        continue;
      }
      forget(thread);
      if (thread != first) continue;
      result = status;
      if (all.state == FOLLOWING) leave_all();
    }
  }
  report("end %llu\n", (unsigned long long)all.calls);
  return result;
}

static sigset_t block_signals(sigset_t *before) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGUSR1);
  if (sigprocmask(SIG_BLOCK, &signals, before) < 0) crash_fail("sigprocmask");
  return signals;
}

int trace_run(const struct plan *plan, char *const *command) {
  sigset_t before, signals = block_signals(&before);
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) < 0) crash_fail("pipe");
  pid_t child = fork();
  if (child < 0) crash_fail("fork");
  if (child == 0) {
    char go;
    close(gate[1]);
    /* The gate closes without a word when there is no tracer any more. */
    if (read(gate[0], &go, 1) != 1) _exit(127);
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(command[0], command);
    fprintf(stderr, "%s: %s\n", command[0], strerror(errno));
    _exit(127);
  }
  all.plan = plan;
  calls_ignore_output(child);
  if (ptrace(PTRACE_SEIZE, child, 0, OPTIONS) < 0) crash_fail("ptrace: trace a program");
  struct tracee *tracee = find_or_add(child);
  ask(PTRACE_INTERRUPT, tracee, 0);
  if (write(gate[1], "g", 1) != 1) crash_fail("write");
  close(gate[0]);
  close(gate[1]);
  return follow(child, &signals);
}

void trace_attach(const struct plan *plan, pid_t process) {
  sigset_t before, signals = block_signals(&before);
  char path[64];
  all.plan = plan;
  calls_ignore_output(process);
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  /* A thread that begins meanwhile is traced from its birth, or found by another look. */
  for (size_t known = 0, seen = 1; known != seen;) {
    known = all.count;
    DIR *tasks = opendir(path);
    if (tasks == NULL) crash_fail(path);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
      pid_t thread = (pid_t)strtol(task->d_name, NULL, 10);
      if (thread == 0 || find(thread) != NULL) continue;
      if (ptrace(PTRACE_SEIZE, thread, 0, OPTIONS) < 0) {
        if (errno == EPERM && known > 0) continue;
        crash_fail("ptrace: attach to a process");
      }
      struct tracee *tracee = find_or_add(thread);
      tracee->is_awaited = true;
      all.awaited++;
      ask(PTRACE_INTERRUPT, tracee, 0);
    }
    closedir(tasks);
    seen = all.count;
  }
  follow(0, &signals);
}
