/*
 * Runs programs as a container runtime does, fork and exec, and says how long each took: the driver's own cost is
 * a few microseconds, where a driver in a managed language adds milliseconds.
 *
 * Each line on stdin is one run: PROGRAM, ENVIRONMENT FILE, STDIN FILE, STDOUT FILE, separated by tabs. The
 * environment file holds NAME=VALUE lines. The answer is a line: exit status, then nanoseconds from before the
 * fork until the program has ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ENV 256

static void fail(const char *what) {
  fprintf(stderr, "driver: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The file's text, with room for one more byte. */
static char *slurp(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) < 0) fail(path);
  char *text = malloc((size_t)st.st_size + 1);
  if (text == NULL || read(fd, text, (size_t)st.st_size) != st.st_size) fail(path);
  text[st.st_size] = '\0';
  close(fd);
  return text;
}

static int64_t run(const char *program, char **env, const char *in, const char *out, int *status) {
  posix_spawn_file_actions_t actions;
  char *argv[] = {(char *)program, NULL};
  pid_t pid;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, in, O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int64_t start = now();
  errno = posix_spawn(&pid, program, &actions, NULL, argv, env);
  if (errno != 0) fail(program);
  while (waitpid(pid, status, 0) < 0)
    if (errno != EINTR) fail("waitpid");
  int64_t took = now() - start;
  posix_spawn_file_actions_destroy(&actions);
  return took;
}

int main(void) {
  char *line = NULL;
  size_t size = 0;
  ssize_t length;
  while ((length = getline(&line, &size, stdin)) > 0) {
    line[length - 1] = '\0';
    char *rest = line;
    const char *program = strsep(&rest, "\t"), *envfile = strsep(&rest, "\t");
    const char *in = strsep(&rest, "\t"), *out = strsep(&rest, "\t");
    if (out == NULL) {
      fprintf(stderr, "driver: a line needs four fields\n");
      return 1;
    }
    char *text = slurp(envfile), *at = text, *env[MAX_ENV + 1];
    int count = 0;
    for (char *entry; (entry = strsep(&at, "\n")) != NULL && count < MAX_ENV;)
      if (*entry != '\0') env[count++] = entry;
    env[count] = NULL;
    int status;
    int64_t took = run(program, env, in, out, &status);
    free(text);
    printf("%d %lld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), (long long)took);
    fflush(stdout);
  }
  free(line);
  return 0;
}
