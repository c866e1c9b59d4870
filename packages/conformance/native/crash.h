/*
 * Ends, or holds, a program at the n-th system call by which it changes something that outlives it: requests on netlink
 * sockets, files that are made, written, renamed, removed or locked, mounts, namespaces entered.
 */
#ifndef HEDDLE_CRASH_H
#define HEDDLE_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* --- main.c ------------------------------------------------------------------------------------------------ */

/* Says what failed, with errno, on stderr, and ends this program and with it all that it traces. */
_Noreturn void crash_fail(const char *what);

/* --- calls.c: which calls change something ------------------------------------------------------------------- */

/* A system call that a thread is about to make. */
struct entry {
  pid_t thread, process;
  uint64_t number;
  const uint64_t *arguments;
};

/* What a call is, in words. */
struct words {
  const char *name;
  char about[512];
};

/* What the process prints to is not counted: its standard output and standard error. */
void calls_ignore_output(pid_t process);
/* Whether it changes something that outlives its process, as far as can be told before it is made. */
bool calls_changes(const struct entry *entry, struct words *words);

/* --- tracee.c: what belongs to another process ---------------------------------------------------------------- */

/* Reads memory; how much there was, which is less at the end of a mapping. */
size_t tracee_read(pid_t thread, uint64_t address, void *into, size_t size);
/* Reads a text that ends with NUL; cut off where there is no room. False when there is none. */
bool tracee_text(pid_t thread, uint64_t address, char *into, size_t room);
/* What a descriptor leads to, such as "/etc/hosts" or "socket:[1]"; empty when that cannot be told. */
void tracee_target(pid_t thread, int fd, char *into, size_t room);
/* Its thread group, which is the process; 0 when it is gone. */
pid_t tracee_process(pid_t thread);

/* Whether this process follows the thread, which has not ended. */
bool tracee_is_ours(pid_t thread);
/* Reads /proc/THREAD/WHAT as the descriptor `fd` of it: an open copy of it here. Negative when that cannot be had. */
int tracee_copy(pid_t process, int fd);

/* --- netlink.c: requests to the kernel ------------------------------------------------------------------------ */

/* Whether a buffer of messages holds one that changes something; then says which. `protocol` is that of the socket. */
bool netlink_changes(int protocol, const unsigned char *messages, size_t size, char *about, size_t room);

/* --- trace.c: following processes ----------------------------------------------------------------------------- */

/* What happens at the n-th call. */
enum action { LIST, KILL, HOLD };

struct plan {
  enum action action;
  uint64_t point; /* from 1 */
  bool after;     /* once the call is done, and not before it is begun */
  int report;     /* where each call is told */
};

/* Starts a program and follows it and all that it starts. The status of its end, as from waitpid. */
int trace_run(const struct plan *plan, char *const *command);
/* Follows a process that runs already, and all that it starts from now on, until it ends or SIGTERM comes. */
void trace_attach(const struct plan *plan, pid_t process);

#endif
