/* Which system calls change something that outlives a process: a table, and what their arguments say. */
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "crash.h"

/* How the arguments of a call say whether, and what, it changes. */
enum shape { PATH, AT, OPEN, DESCRIPTOR, WRITE, SEND, SEND_MESSAGE, SEND_MESSAGES, IOCTL, LOCK, BIND, OPTION, BPF, ALWAYS };

struct rule {
  long number;
  const char *name;
  enum shape shape;
  int at; /* which argument it is about; for AT the directory, which the path follows */
};

#define CALL(name, shape, at) {SYS_##name, #name, shape, at}
static const struct rule RULES[] = {
    CALL(openat, OPEN, 0), CALL(mkdirat, AT, 0), CALL(mknodat, AT, 0), CALL(unlinkat, AT, 0), CALL(symlinkat, AT, 1),
    CALL(linkat, AT, 2), CALL(renameat2, AT, 2), CALL(fchmodat, AT, 0), CALL(fchownat, AT, 0), CALL(truncate, PATH, 0),
    CALL(ftruncate, WRITE, 0), CALL(fallocate, WRITE, 0), CALL(fchmod, WRITE, 0), CALL(fchown, WRITE, 0),
    CALL(write, WRITE, 0), CALL(pwrite64, WRITE, 0), CALL(writev, WRITE, 0), CALL(pwritev, WRITE, 0),
    CALL(pwritev2, WRITE, 0), CALL(sendfile, WRITE, 0), CALL(splice, WRITE, 2), CALL(copy_file_range, WRITE, 2),
    CALL(setxattr, PATH, 0), CALL(lsetxattr, PATH, 0), CALL(fsetxattr, WRITE, 0), CALL(removexattr, PATH, 0),
    CALL(lremovexattr, PATH, 0), CALL(fremovexattr, WRITE, 0), CALL(flock, DESCRIPTOR, 0), CALL(fcntl, LOCK, 0),
    CALL(sendto, SEND, 0), CALL(sendmsg, SEND_MESSAGE, 0), CALL(sendmmsg, SEND_MESSAGES, 0), CALL(bind, BIND, 0),
    CALL(setsockopt, OPTION, 0), CALL(ioctl, IOCTL, 0), CALL(bpf, BPF, 0), CALL(mount, PATH, 1), CALL(umount2, PATH, 0),
    CALL(move_mount, AT, 2), CALL(mount_setattr, AT, 0), CALL(pivot_root, PATH, 0), CALL(setns, DESCRIPTOR, 0),
    CALL(unshare, ALWAYS, 0),
#ifdef SYS_renameat
    CALL(renameat, AT, 2),
#endif
#ifdef SYS_open /* and the other calls that younger architectures do without */
    CALL(open, OPEN, -1), CALL(creat, PATH, 0), CALL(mkdir, PATH, 0), CALL(rmdir, PATH, 0), CALL(mknod, PATH, 0),
    CALL(unlink, PATH, 0), CALL(symlink, PATH, 1), CALL(link, PATH, 1), CALL(rename, PATH, 1), CALL(chmod, PATH, 0),
    CALL(chown, PATH, 0), CALL(lchown, PATH, 0),
#endif
};

enum { OUTPUTS = 2, MOST = 256 << 10 };
static struct stat ignored[OUTPUTS];

static bool stat_of(pid_t thread, int fd, struct stat *into) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread, fd);
  return stat(path, into) == 0;
}

void calls_ignore_output(pid_t process) {
  for (int i = 0; i < OUTPUTS; i++)
    if (!stat_of(process, i + 1, &ignored[i])) ignored[i] = (struct stat){0};
}

/* A file that others can find, and no output: a nameless one is gone with its process. */
static bool is_kept(pid_t thread, int fd) {
  struct stat file;
  if (!stat_of(thread, fd, &file) || !S_ISREG(file.st_mode) || file.st_nlink == 0) return false;
  for (int i = 0; i < OUTPUTS; i++)
    if (file.st_dev == ignored[i].st_dev && file.st_ino == ignored[i].st_ino) return false;
  return true;
}

static void path_at(pid_t thread, int directory, uint64_t address, char *into, size_t room) {
  char path[PATH_MAX], base[PATH_MAX] = "";
  tracee_text(thread, address, path, sizeof path);
  if (path[0] != '/' && directory != AT_FDCWD) tracee_target(thread, directory, base, sizeof base);
  snprintf(into, room, base[0] == '\0' || path[0] == '\0' ? "%s%s" : "%s/%s", base, path);
}

static bool opens(const struct entry *entry, int directory, char *about, size_t room) {
  int first = directory < 0 ? 0 : 1;
  uint64_t flags = entry->arguments[first + 1];
  int base = directory < 0 ? AT_FDCWD : (int)entry->arguments[directory];
  if ((flags & O_TMPFILE) == O_TMPFILE || (flags & (O_CREAT | O_TRUNC)) == 0) return false;
  path_at(entry->thread, base, entry->arguments[first], about, room);
  /* Shells say that they create these; what is written to a parameter of the kernel counts when it is written. */
  return strcmp(about, "/dev/null") != 0 && strcmp(about, "/dev/tty") != 0 && strncmp(about, "/proc/", 6) != 0;
}

/* The protocol of a netlink socket; negative for anything else. */
static int netlink_protocol(pid_t process, int fd) {
  int copy = tracee_copy(process, fd), domain = 0, protocol = -1;
  if (copy < 0) return -1;
  socklen_t length = sizeof domain;
  bool is_netlink = getsockopt(copy, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_NETLINK;
  if (is_netlink) getsockopt(copy, SOL_SOCKET, SO_PROTOCOL, &protocol, &length);
  close(copy);
  return protocol;
}

static bool sends(const struct entry *entry, const struct iovec *pieces, size_t count, char *about, size_t room) {
  static unsigned char messages[MOST];
  int protocol = netlink_protocol(entry->process, (int)entry->arguments[0]);
  if (protocol < 0) return false;
  size_t size = 0;
  for (size_t i = 0; i < count && size < sizeof messages; i++) {
    size_t left = sizeof messages - size, length = pieces[i].iov_len < left ? pieces[i].iov_len : left;
    size += tracee_read(entry->thread, (uint64_t)(uintptr_t)pieces[i].iov_base, messages + size, length);
  }
  return netlink_changes(protocol, messages, size, about, room);
}

static bool sends_message(const struct entry *entry, char *about, size_t room) {
  struct msghdr header;
  struct iovec pieces[64];
  if (tracee_read(entry->thread, entry->arguments[1], &header, sizeof header) != sizeof header) return false;
  size_t count = header.msg_iovlen < 64 ? header.msg_iovlen : 64;
  size_t read = tracee_read(entry->thread, (uint64_t)(uintptr_t)header.msg_iov, pieces, count * sizeof *pieces);
  return sends(entry, pieces, read / sizeof *pieces, about, room);
}

static bool controls(const struct entry *entry, char *about, size_t room) {
  static const struct {
    unsigned long request;
    const char *name;
  } changes[] = {{TUNSETIFF, "TUNSETIFF"},         {TUNSETPERSIST, "TUNSETPERSIST"}, {TUNSETOWNER, "TUNSETOWNER"},
                 {TUNSETGROUP, "TUNSETGROUP"},     {SIOCSIFFLAGS, "SIOCSIFFLAGS"},   {SIOCSIFADDR, "SIOCSIFADDR"},
                 {SIOCSIFNETMASK, "SIOCSIFNETMASK"}, {SIOCSIFMTU, "SIOCSIFMTU"},     {SIOCSIFHWADDR, "SIOCSIFHWADDR"},
                 {SIOCSIFNAME, "SIOCSIFNAME"},     {SIOCSIFTXQLEN, "SIOCSIFTXQLEN"}, {SIOCBRADDBR, "SIOCBRADDBR"},
                 {SIOCBRDELBR, "SIOCBRDELBR"},     {SIOCBRADDIF, "SIOCBRADDIF"},     {SIOCBRDELIF, "SIOCBRDELIF"},
                 {SIOCADDRT, "SIOCADDRT"},         {SIOCDELRT, "SIOCDELRT"}};
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    if (changes[i].request != (unsigned long)(uint32_t)entry->arguments[1]) continue;
    snprintf(about, room, "%s", changes[i].name);
    return true;
  }
  return false;
}

static bool locks(const struct entry *entry, char *about, size_t room) {
  int command = (int)entry->arguments[1];
  if (command != F_SETLK && command != F_SETLKW && command != F_OFD_SETLK && command != F_OFD_SETLKW) return false;
  tracee_target(entry->thread, (int)entry->arguments[0], about, room);
  return true;
}

/* A socket with a path leaves a file. */
static bool binds(const struct entry *entry, char *about, size_t room) {
  struct sockaddr_un address = {0};
  size_t size = entry->arguments[2] < sizeof address ? (size_t)entry->arguments[2] : sizeof address;
  if (tracee_read(entry->thread, entry->arguments[1], &address, size) != size) return false;
  snprintf(about, room, "%.*s", (int)sizeof address.sun_path, address.sun_path);
  return address.sun_family == AF_UNIX && address.sun_path[0] != '\0';
}

/* The legacy kind of iptables replaces a table, or its counters, by an option of a raw socket. */
static bool replaces_rules(const struct entry *entry, char *about, size_t room) {
  enum { IP = 0, IPV6 = 41, REPLACE = 64, COUNTERS = 65 };
  uint64_t level = entry->arguments[1], option = entry->arguments[2];
  snprintf(about, room, level == IP ? "iptables" : "ip6tables");
  return (level == IP || level == IPV6) && (option == REPLACE || option == COUNTERS);
}

static bool loads(uint64_t command) {
  return command == BPF_MAP_UPDATE_ELEM || command == BPF_MAP_DELETE_ELEM || command == BPF_OBJ_PIN ||
         command == BPF_PROG_ATTACH || command == BPF_PROG_DETACH || command == BPF_LINK_CREATE ||
         command == BPF_LINK_UPDATE;
}

static bool changes(const struct rule *rule, const struct entry *entry, char *about, size_t room) {
  const uint64_t *arguments = entry->arguments;
  switch (rule->shape) {
    case PATH:
      return tracee_text(entry->thread, arguments[rule->at], about, room);
    case AT:
      path_at(entry->thread, (int)arguments[rule->at], arguments[rule->at + 1], about, room);
      return true;
    case OPEN:
      return opens(entry, rule->at, about, room);
    case DESCRIPTOR:
      tracee_target(entry->thread, (int)arguments[rule->at], about, room);
      return true;
    case WRITE:
      tracee_target(entry->thread, (int)arguments[rule->at], about, room);
      return is_kept(entry->thread, (int)arguments[rule->at]);
    case SEND:
      return sends(entry, &(struct iovec){(void *)(uintptr_t)arguments[1], (size_t)arguments[2]}, 1, about, room);
    case SEND_MESSAGE:
    case SEND_MESSAGES: /* begins with the first of them */
      return sends_message(entry, about, room);
    case IOCTL:
      return controls(entry, about, room);
    case LOCK:
      return locks(entry, about, room);
    case BIND:
      return binds(entry, about, room);
    case OPTION:
      return replaces_rules(entry, about, room);
    case BPF:
      return loads(arguments[0]);
    case ALWAYS:
      return true;
  }
  return false;
}

/* A line of the report has no other line in it. */
static void make_printable(char *text) {
  for (; *text != '\0'; text++)
    if ((unsigned char)*text < ' ' || *text == 127) *text = '?';
}

bool calls_changes(const struct entry *entry, struct words *words) {
  for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++) {
    if ((uint64_t)RULES[i].number != entry->number) continue;
    words->name = RULES[i].name;
    words->about[0] = '\0';
    bool does = changes(&RULES[i], entry, words->about, sizeof words->about);
    make_printable(words->about);
    return does;
  }
  return false;
}
