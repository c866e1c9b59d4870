/*
 * PID 1 of the lab's guest. It makes the host's files its root, under a layer of its own that takes all writes, runs
 * one command, and tells the host by a port what the command writes and how it ends. The host then ends the machine;
 * nothing here shuts down.
 *
 * /job in the initramfs says what to run, as strings that each end with a zero byte: the kernel's release, the folder
 * of its modules, the kind of filesystem that has the host's files and its options, a pattern for the port's path, the
 * console's path, the working directory, "terminal" or "pipes"; the environment, an empty string; the arguments.
 *
 * On the port, a frame is a channel (one byte), a length (four, little-endian) and so many bytes. Channels: 1 and 2
 * are the command's standard output and error, 3 is its descriptor 3; 0 is its exit status in one byte, and the last.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { OUTPUTS = 3, MOST_STRINGS = 4096 };

struct job {
  const char *release, *modules, *files, *files_options, *port, *console, *directory;
  int terminal;
  char **environment, **arguments;
};

/* The kernel panics when PID 1 ends, and qemu ends with it: the host then shows the console. */
static void die(const char *what) {
  fprintf(stderr, "lab: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void must(int result, const char *what) {
  if (result < 0) die(what);
}

static void mount_at(const char *kind, const char *where, const char *options) {
  if (mkdir(where, 0755) < 0 && errno != EEXIST) die(where);
  must(mount(kind, where, kind, 0, options), where);
}

static struct job read_job(void) {
  static char text[1 << 20], *strings[MOST_STRINGS];
  FILE *file = fopen("/job", "r");
  if (file == NULL) die("/job");
  size_t length = fread(text, 1, sizeof text - 1, file), count = 0;
  fclose(file);
  for (char *at = text; at < text + length && count < MOST_STRINGS - 1; at += strlen(at) + 1) strings[count++] = at;
  struct job job = {
      .release = strings[0], .modules = strings[1], .files = strings[2], .files_options = strings[3],
      .port = strings[4], .console = strings[5], .directory = strings[6]};
  if (count < 10) die("/job is too short");
  job.terminal = strcmp(strings[7], "terminal") == 0;
  job.environment = job.arguments = &strings[8];
  while (**job.arguments != '\0') job.arguments++;
  *job.arguments++ = NULL;
  return job;
}

/* Those that are needed to reach the host's files; all others are there for modprobe by then. */
static void load_modules(void) {
  struct dirent **names;
  int count = scandir("/modules", &names, NULL, alphasort);
  must(count, "/modules");
  for (int i = 0; i < count; i++) {
    char path[512];
    if (names[i]->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/modules/%s", names[i]->d_name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    must(fd, path);
    if (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST) die(path);
    close(fd);
  }
}

static void enter_root(const struct job *job) {
  must(mkdir("/host", 0755), "/host");
  must(mount("host", "/host", job->files, MS_RDONLY, job->files_options), "host's files");
  mount_at("tmpfs", "/layer", "mode=755");
  must(mkdir("/layer/upper", 0755), "/layer/upper");
  must(mkdir("/layer/work", 0755), "/layer/work");
  mount_at("overlay", "/root", "lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work");
  must(chdir("/root"), "/root");
  const char *moved[] = {"proc", "sys", "dev"};
  for (int i = 0; i < 3; i++) {
    char from[8];
    snprintf(from, sizeof from, "/%s", moved[i]);
    must(mount(from, moved[i], NULL, MS_MOVE, NULL), moved[i]);
  }
  must(mount(".", "/", NULL, MS_MOVE, NULL), "move the root");
  must(chroot("."), "chroot");

  char link[512];
  if (mkdir("/lib/modules", 0755) < 0 && errno != EEXIST) die("/lib/modules");
  snprintf(link, sizeof link, "/lib/modules/%s", job->release);
  if (symlink(job->modules, link) < 0 && errno != EEXIST) die(link);
  mount_at("tmpfs", "/run", "mode=755");
  mount_at("tmpfs", "/dev/shm", "mode=1777");
  mount_at("devpts", "/dev/pts", "mode=600,ptmxmode=666");
  mount_at("cgroup2", "/sys/fs/cgroup", NULL);
  must(symlink("/proc/self/fd", "/dev/fd"), "/dev/fd");
  /* Opening it loads the driver. */
  must(mkdir("/dev/net", 0755), "/dev/net");
  must(mknod("/dev/net/tun", S_IFCHR | 0666, makedev(10, 200)), "/dev/net/tun");
}

static void set_up_network(void) {
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  must(ioctl(fd, SIOCSIFFLAGS, &request), "lo");
  close(fd);
  must(sethostname("lab", 3), "hostname");
}

/* The only port of the machine; it may appear some time after its driver was loaded. */
static int open_port(const char *pattern) {
  glob_t found;
  for (int tries = 0; tries < 1000; tries++) {
    if (glob(pattern, 0, NULL, &found) == 0) {
      int fd = open(found.gl_pathv[0], O_WRONLY | O_CLOEXEC | O_NOCTTY);
      must(fd, found.gl_pathv[0]);
      struct termios line;
      if (tcgetattr(fd, &line) == 0) {
        cfmakeraw(&line);
        must(tcsetattr(fd, TCSANOW, &line), "raw port");
      }
      return fd;
    }
    usleep(10000);
  }
  die("no port");
  return -1;
}

static void write_all(int fd, const void *bytes, size_t length) {
  for (const char *at = bytes; length > 0;) {
    ssize_t written = write(fd, at, length);
    must((int)written, "port");
    at += written;
    length -= (size_t)written;
  }
}

static void send_frame(int port, uint8_t channel, const void *bytes, uint32_t length) {
  uint8_t head[5] = {channel, (uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(length >> 16), (uint8_t)(length >> 24)};
  write_all(port, head, sizeof head);
  write_all(port, bytes, length);
}

static void become_command(const struct job *job, int outputs[OUTPUTS][2]) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setsid();
  int input = open(job->terminal ? job->console : "/dev/null", job->terminal ? O_RDWR : O_RDONLY);
  must(input, "standard input");
  if (job->terminal) ioctl(input, TIOCSCTTY, 0);
  dup2(input, 0);
  for (int i = 0; i < OUTPUTS; i++) dup2(job->terminal && i < 2 ? input : outputs[i][1], i + 1);
  if (input > OUTPUTS) close(input);
  must(chdir(job->directory), job->directory);
  environ = job->environment;
  execvp(job->arguments[0], job->arguments);
  fprintf(stderr, "%s: %s\n", job->arguments[0], strerror(errno));
  _exit(errno == ENOENT ? 127 : 126);
}

/* Passes on what has been written; true when there was something. */
static int forward(int port, int outputs[OUTPUTS][2], struct pollfd *ready) {
  static char bytes[65536];
  int any = 0;
  for (int i = 0; i < OUTPUTS; i++) {
    if (ready[i].revents == 0) continue;
    ssize_t length = read(outputs[i][0], bytes, sizeof bytes);
    if (length > 0) send_frame(port, (uint8_t)(i + 1), bytes, (uint32_t)length);
    else ready[i].fd = -1;
    any |= length > 0;
  }
  return any;
}

/* Waits for the command, and for whatever else lost its parent. */
static uint8_t serve(int port, int outputs[OUTPUTS][2], int signals, pid_t command) {
  struct pollfd ready[OUTPUTS + 1] = {[OUTPUTS] = {.fd = signals, .events = POLLIN}};
  for (int i = 0; i < OUTPUTS; i++) ready[i] = (struct pollfd){.fd = outputs[i][0], .events = POLLIN};
  int end = -1, status, any;
  do {
    must(poll(ready, OUTPUTS + 1, end < 0 ? -1 : 0), "poll");
    any = forward(port, outputs, ready);
    if (ready[OUTPUTS].revents != 0) {
      struct signalfd_siginfo ignored;
      must((int)read(signals, &ignored, sizeof ignored), "signals");
      for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == command) end = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      }
      any = 1;
    }
  } while (end < 0 || any);
  return (uint8_t)end;
}

int main(void) {
  mount_at("devtmpfs", "/dev", NULL);
  mount_at("proc", "/proc", NULL);
  mount_at("sysfs", "/sys", NULL);
  const struct job job = read_job();
  load_modules();
  enter_root(&job);
  set_up_network();
  int port = open_port(job.port);

  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, NULL);
  int signals = signalfd(-1, &child, SFD_CLOEXEC), outputs[OUTPUTS][2];
  must(signals, "signalfd");
  for (int i = 0; i < OUTPUTS; i++) must(pipe2(outputs[i], O_CLOEXEC), "pipe");
  pid_t command = fork();
  must(command, "fork");
  if (command == 0) become_command(&job, outputs);
  for (int i = 0; i < OUTPUTS; i++) close(outputs[i][1]);

  const uint8_t status = serve(port, outputs, signals, command);
  send_frame(port, 0, &status, 1);
  for (;;) pause();
}
