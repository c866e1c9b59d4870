/*
 * Usage: heddle-bench-driver [--cover DIRECTORY]… [--keep DIRECTORY]…
 *
 * Says the number of its node's first process, then answers requests on stdin, one after the other, until stdin
 * ends. Requests and answers are lists of texts; see texts.c. The first text of a request says what is wanted:
 *
 *   make NAME…                                         network namespaces below /run/netns
 *   drop NAME…
 *   start PROGRAM LOG ARGUMENTS ENVIRONMENT            a program that stays; answers with its number in the node
 *   run WORKERS PATIENCE PROBE-PATIENCE STOPS JOB…     a batch; see batch.c
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

int64_t driver_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

_Noreturn void driver_fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static bool is(struct text text, const char *word) {
  return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

static void each_pod(struct text names, void (*what)(const char *name)) {
  struct text name;
  while (texts_take(&names, &name)) {
    char *copy = texts_copy(name);
    what(copy);
    free(copy);
  }
}

/* A list as execve wants it, the first entry given. */
static char **vector(char *first, struct text list) {
  struct text entry;
  size_t count = first == NULL ? 0 : 1;
  char **all = malloc(sizeof *all * (list.size + 2));
  if (all == NULL) driver_fail("malloc");
  all[0] = first;
  while (texts_take(&list, &entry)) all[count++] = texts_copy(entry);
  all[count] = NULL;
  return all;
}

static void start(struct text request, struct buffer *answer) {
  char *program = texts_copy(texts_need(&request)), *log = texts_copy(texts_need(&request));
  char **arguments = vector(program, texts_need(&request)), **environment = vector(NULL, texts_need(&request));
  int pid = call_start(program, arguments, environment, log);
  if (pid < 0) driver_fail(program);
  texts_put_number(answer, pid);
  for (char **entry = arguments; *entry != NULL; entry++) free(*entry);
  for (char **entry = environment; *entry != NULL; entry++) free(*entry);
  free(arguments);
  free(environment);
  free(log);
}

static void serve(struct text request, struct buffer *answer) {
  struct text what = texts_need(&request);
  /* Whatever lost its parent in the node has become ours. */
  while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  if (is(what, "make")) each_pod(request, node_make_pod);
  else if (is(what, "drop")) each_pod(request, node_drop_pod);
  else if (is(what, "start")) start(request, answer);
  else if (is(what, "run")) batch_run(request, answer);
  else {
    errno = EINVAL;
    driver_fail("read a request");
  }
}

int main(int count, char *arguments[]) {
  const char **covered = calloc((size_t)count + 1, sizeof *covered), **kept = calloc((size_t)count + 1, sizeof *kept);
  if (covered == NULL || kept == NULL) driver_fail("calloc");
  size_t covers = 0, keeps = 0;
  for (int i = 1; i + 1 < count; i += 2) {
    if (strcmp(arguments[i], "--cover") == 0) covered[covers++] = arguments[i + 1];
    else if (strcmp(arguments[i], "--keep") == 0) kept[keeps++] = arguments[i + 1];
  }
  signal(SIGPIPE, SIG_IGN);
  node_enter(covered, kept);
  struct buffer request = {0};
  while (texts_receive(STDIN_FILENO, &request)) {
    struct buffer answer = {0};
    serve((struct text){.data = request.data, .size = request.size}, &answer);
    texts_send(STDOUT_FILENO, &answer);
    buffer_free(&answer);
  }
  return 0;
}
