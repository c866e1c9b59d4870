/* A node that is made of namespaces: nothing in it reaches the machine, and it is gone with its first process. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

/* A path of something in the kernel, for `driver_fail`, is more telling than a call's name. */
static void mount_at(const char *source, const char *path, const char *type, unsigned long flags) {
  if (mount(source, path, type, flags, NULL) < 0) driver_fail(path);
}

static void make_directories(const char *path) {
  char part[4096];
  for (size_t i = 1; i < sizeof part - 1; i++) {
    if (path[i] != '/' && path[i] != '\0') continue;
    memcpy(part, path, i);
    part[i] = '\0';
    if (mkdir(part, 0755) < 0 && errno != EEXIST) driver_fail(part);
    if (path[i] == '\0') return;
  }
}

static void make_private(const char *const *covered, const char *const *kept) {
  mount_at("none", "/", NULL, MS_REC | MS_PRIVATE);
  struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
  if (syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof read_only) < 0)
    driver_fail("make the node's file systems read-only");
  size_t count = 0;
  while (kept[count] != NULL) count++;
  int *trees = calloc(count + 1, sizeof *trees);
  if (trees == NULL) driver_fail("calloc");
  for (size_t i = 0; i < count; i++) {
    trees[i] = open_tree(AT_FDCWD, kept[i], OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (trees[i] < 0) driver_fail(kept[i]);
  }
  for (; *covered != NULL; covered++)
    if (access(*covered, F_OK) == 0) mount_at("heddle-bench", *covered, "tmpfs", 0);
  for (size_t i = 0; i < count; i++) {
    make_directories(kept[i]);
    if (move_mount(trees[i], "", AT_FDCWD, kept[i], MOVE_MOUNT_F_EMPTY_PATH) < 0) driver_fail(kept[i]);
    close(trees[i]);
  }
  free(trees);
  mount_at("proc", "/proc", "proc", 0);
  mount_at("sysfs", "/sys", "sysfs", 0);
  make_directories("/run/netns");
}

static void loopback_up(void) {
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  int fd = node_socket(NULL, AF_INET, SOCK_DGRAM);
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0) driver_fail("bring up lo");
  close(fd);
}

/* The end of the parent is the end of this process, and the end of the first process is that of all in the node. */
static void end_with_parent(void) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) driver_fail("prctl");
}

static pid_t first_process;

static void end_node(int signal) {
  (void)signal;
  kill(first_process, SIGKILL);
}

void node_enter(const char *const *covered, const char *const *kept) {
  end_with_parent();
  if (unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID) < 0) driver_fail("make namespaces");
  int told[2];
  if (pipe2(told, O_CLOEXEC) < 0) driver_fail("pipe");
  pid_t child = fork();
  if (child < 0) driver_fail("fork");
  if (child > 0) {
    int status;
    first_process = child;
    /* Told to end, this process still collects the node, so that nothing of it is left when it is gone. */
    signal(SIGTERM, end_node);
    /* The child cannot tell its number here by itself: it has another one where it lives. */
    if (write(told[1], &child, sizeof child) != sizeof child) driver_fail("write");
    while (waitpid(child, &status, 0) < 0)
      if (errno != EINTR) driver_fail("waitpid");
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  end_with_parent();
  pid_t own;
  if (read(told[0], &own, sizeof own) != sizeof own) driver_fail("read");
  close(told[0]);
  close(told[1]);
  make_private(covered, kept);
  loopback_up();
  struct buffer ready = {0};
  texts_put_number(&ready, own);
  texts_send(STDOUT_FILENO, &ready);
  buffer_free(&ready);
}

static void pod_path(char path[64], const char *name) {
  if (strlen(name) > 32 || strchr(name, '/') != NULL) {
    errno = EINVAL;
    driver_fail(name);
  }
  snprintf(path, 64, "/run/netns/%s", name);
}

static int own_netns(void) {
  int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (own < 0) driver_fail("open the own network namespace");
  return own;
}

static void return_to(int own) {
  if (setns(own, CLONE_NEWNET) < 0) driver_fail("return to the own network namespace");
  close(own);
}

void node_make_pod(const char *name) {
  char path[64];
  pod_path(path, name);
  int own = own_netns();
  int file = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  if (file < 0) driver_fail(path);
  close(file);
  if (unshare(CLONE_NEWNET) < 0) driver_fail("make a network namespace");
  mount_at("/proc/thread-self/ns/net", path, NULL, MS_BIND);
  return_to(own);
}

void node_drop_pod(const char *name) {
  char path[64];
  pod_path(path, name);
  if (umount2(path, MNT_DETACH) < 0 || unlink(path) < 0) driver_fail(path);
}

int node_socket(const char *netns, int family, int type) {
  if (netns == NULL) return socket(family, type | SOCK_CLOEXEC, 0);
  int there = open(netns, O_RDONLY | O_CLOEXEC);
  if (there < 0) return -1;
  int own = own_netns();
  int fd = -1;
  if (setns(there, CLONE_NEWNET) == 0) fd = socket(family, type | SOCK_CLOEXEC, 0);
  int error = errno;
  return_to(own);
  close(there);
  errno = error;
  return fd;
}
