/*
 * The driver: a node of its own, in which programs are called as a container runtime calls plugins, and timed. It is
 * native so that its own cost, a few microseconds a call, is not what is measured.
 */
#ifndef HEDDLE_BENCH_DRIVER_H
#define HEDDLE_BENCH_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nanoseconds on the monotonic clock. */
int64_t driver_now(void);

/* Says what failed, with errno, on stderr, and ends the driver. */
_Noreturn void driver_fail(const char *what);

/* --- texts.c: what goes in and out ------------------------------------------------------------------------- */

/* Bytes that grow. */
struct buffer {
  char *data;
  size_t size, room;
};

/* Bytes of somebody else. */
struct text {
  const char *data;
  size_t size;
};

void buffer_append(struct buffer *buffer, const void *data, size_t size);
void buffer_free(struct buffer *buffer);

/* Reads a netstring ("5:hello,") from a file. False at the end of the file. */
bool texts_receive(int fd, struct buffer *into);
/* Takes the first netstring off a list of them. False when the list is at its end. */
bool texts_take(struct text *list, struct text *first);
/* The same, where there must be one. */
struct text texts_need(struct text *list);
/* A NUL-terminated copy, to be freed. */
char *texts_copy(struct text text);
int64_t texts_number(struct text text);

void texts_put(struct buffer *into, const void *data, size_t size);
void texts_put_words(struct buffer *into, const char *words);
void texts_put_number(struct buffer *into, int64_t number);
void texts_send(int fd, const struct buffer *buffer);

/* --- node.c: the node and its pods ------------------------------------------------------------------------- */

/*
 * Goes on in a child that has network, mount and process namespaces of its own: everything is read-only there but
 * what is covered with an empty file system, below which the directories to keep can still be read.
 */
void node_enter(const char *const *covered, const char *const *kept);
/* Makes a network namespace with a name below /run/netns. */
void node_make_pod(const char *name);
void node_drop_pod(const char *name);
/* Opens a socket in the namespace at a path, or in the node itself for NULL. Negative, with errno, when it cannot. */
int node_socket(const char *netns, int family, int type);

/* --- call.c: a program, from start to end ------------------------------------------------------------------ */

enum ending { EXITED, SIGNALLED, LATE, UNSTARTED };

struct call {
  const char *program;
  char *const *environment;
  const char *input;
  size_t input_size;
  int64_t patience; /* nanoseconds after which it is killed */
};

struct outcome {
  enum ending ending;
  int code; /* exit code, signal, or errno */
  int64_t began, took;
  struct buffer output, errors;
};

void call_run(const struct call *call, struct outcome *outcome);
void outcome_free(struct outcome *outcome);
/* Starts a program that stays, and writes what it says to a file. Its process, or negative with errno. */
int call_start(const char *program, char *const *arguments, char *const *environment, const char *log);

/* --- probe.c: whether the pod is on the network -------------------------------------------------------------- */

/* A socket of the node for the packets of pods, of both families. */
int probe_listener(void);
/*
 * Sends one packet from a pod to an address of the node and waits for it. Zero, and the time of its arrival, or
 * the errno of sending it; ETIMEDOUT when it was lost.
 */
int probe_send(const char *netns, const char *address, int listener, int64_t patience, int64_t *arrived);
/* Whether the namespace has an interface of this name; negative with errno when that cannot be told. */
int probe_interface(const char *netns, const char *name);

/* --- batch.c: many attachments ------------------------------------------------------------------------------- */

/* Runs the jobs of a request, so many at a time, and appends the answer. */
void batch_run(struct text request, struct buffer *answer);

#endif
