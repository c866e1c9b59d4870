/* A call as a runtime makes it: fork and exec, the configuration through one pipe, the result through another. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

/* Of what a program says, this much is kept of each stream. */
enum { MOST_OUTPUT = 8 << 20, MOST_ERRORS = 64 << 10 };

enum { INPUT, OUTPUT, ERRORS, STREAMS };

/* Its own process group, so that whatever it has started ends with it when it is late. */
static int spawn(pid_t *pid, const char *program, char *const *arguments, char *const *environment,
                 const int stream[STREAMS]) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  for (int i = 0; i < STREAMS; i++) posix_spawn_file_actions_adddup2(&actions, stream[i], i);
  int error = posix_spawn(pid, program, &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

static int milliseconds_until(int64_t time) {
  int64_t left = time - driver_now();
  return left <= 0 ? 0 : (int)((left + 999999) / 1000000);
}

static void shut(struct pollfd *stream) {
  close(stream->fd);
  stream->fd = -1;
}

static void send_some(struct pollfd *stream, const struct call *call, size_t *sent) {
  ssize_t done = write(stream->fd, call->input + *sent, call->input_size - *sent);
  if (done > 0) *sent += (size_t)done;
  /* A program need not read what it is given. */
  if (*sent == call->input_size || (done < 0 && errno != EAGAIN && errno != EINTR)) shut(stream);
}

static void receive_some(struct pollfd *stream, struct buffer *into, size_t most) {
  char piece[65536];
  ssize_t done = read(stream->fd, piece, sizeof piece);
  if (done < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (done <= 0) {
    shut(stream);
    return;
  }
  size_t room = most - into->size;
  buffer_append(into, piece, (size_t)done < room ? (size_t)done : room);
}

/* Until the program has closed both of its streams. False when it does not. */
static bool talk(const struct call *call, struct outcome *outcome, struct pollfd stream[STREAMS], int64_t deadline) {
  size_t sent = 0;
  if (call->input_size == 0) shut(&stream[INPUT]);
  while (stream[OUTPUT].fd >= 0 || stream[ERRORS].fd >= 0) {
    int ready = poll(stream, STREAMS, milliseconds_until(deadline));
    if (ready < 0 && errno != EINTR) driver_fail("poll");
    if (ready == 0) return false;
    if (stream[INPUT].revents != 0) send_some(&stream[INPUT], call, &sent);
    if (stream[OUTPUT].revents != 0) receive_some(&stream[OUTPUT], &outcome->output, MOST_OUTPUT);
    if (stream[ERRORS].revents != 0) receive_some(&stream[ERRORS], &outcome->errors, MOST_ERRORS);
  }
  return true;
}

static bool ends_before(int64_t deadline, pid_t pid) {
  int handle = (int)syscall(SYS_pidfd_open, pid, 0);
  if (handle < 0) driver_fail("pidfd_open");
  struct pollfd ended = {.fd = handle, .events = POLLIN};
  int ready;
  do ready = poll(&ended, 1, milliseconds_until(deadline));
  while (ready < 0 && errno == EINTR);
  close(handle);
  return ready > 0;
}

static int collect(pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) driver_fail("waitpid");
  return status;
}

void call_run(const struct call *call, struct outcome *outcome) {
  int ours[STREAMS], theirs[STREAMS];
  for (int i = 0; i < STREAMS; i++) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) driver_fail("pipe");
    ours[i] = ends[i == INPUT ? 1 : 0];
    theirs[i] = ends[i == INPUT ? 0 : 1];
    if (fcntl(ours[i], F_SETFL, O_NONBLOCK) < 0) driver_fail("fcntl");
  }
  char *arguments[] = {(char *)call->program, NULL};
  pid_t pid;
  *outcome = (struct outcome){.began = driver_now()};
  int64_t deadline = outcome->began + call->patience;
  int error = spawn(&pid, call->program, arguments, call->environment, theirs);
  for (int i = 0; i < STREAMS; i++) close(theirs[i]);
  struct pollfd stream[STREAMS] = {
      {.fd = ours[INPUT], .events = POLLOUT}, {.fd = ours[OUTPUT], .events = POLLIN}, {.fd = ours[ERRORS], .events = POLLIN}};
  if (error != 0) {
    outcome->ending = UNSTARTED;
    outcome->code = error;
  } else {
    bool in_time = talk(call, outcome, stream, deadline) && ends_before(deadline, pid);
    if (!in_time) kill(-pid, SIGKILL);
    int status = collect(pid);
    outcome->ending = !in_time ? LATE : WIFEXITED(status) ? EXITED : SIGNALLED;
    outcome->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  }
  outcome->took = driver_now() - outcome->began;
  for (int i = 0; i < STREAMS; i++)
    if (stream[i].fd >= 0) shut(&stream[i]);
}

void outcome_free(struct outcome *outcome) {
  buffer_free(&outcome->output);
  buffer_free(&outcome->errors);
}

int call_start(const char *program, char *const *arguments, char *const *environment, const char *log) {
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  int said = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (nothing < 0 || said < 0) driver_fail(log);
  pid_t pid;
  int error = spawn(&pid, program, arguments, environment, (int[]){nothing, said, said});
  close(nothing);
  close(said);
  errno = error;
  return error == 0 ? pid : -1;
}
