/*
 * The floor: what the kernel takes for the netlink messages of an ADD or DEL, and nothing else. Named like a plugin and
 * called like one, it sends the very messages that the agent sent for the same call on a node like this one, awaits what
 * the agent awaited, and prints what it printed. They are in a file beside it, CONTAINER.COMMAND, which `recording.ts`
 * writes; `messages.md` lists them. Lines of the file:
 *
 *   netns 30        the number that CNI_NETNS's descriptor has in the messages
 *   host 3c000…     a datagram on a socket of the node
 *   pod 3c000…      a datagram on a socket in the pod
 *   {"cniVersion…   the rest of the file: what is printed
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_FILE = 1 << 20, MOST_DATAGRAM = 1 << 16 };

static _Noreturn void fail(const char *what) {
  printf("{\"code\": 999, \"msg\": \"%s: %s\"}", what, strerror(errno));
  exit(1);
}

static const char *variable(const char *name) {
  const char *value = getenv(name);
  if (value == NULL) {
    errno = EINVAL;
    fail(name);
  }
  return value;
}

static int socket_here(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  int on = 1;
  if (fd < 0) fail("open a socket");
  setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  return fd;
}

static int socket_in(int netns) {
  int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (own < 0 || setns(netns, CLONE_NEWNET) < 0) fail("enter the pod");
  int fd = socket_here();
  if (setns(own, CLONE_NEWNET) < 0) fail("leave the pod");
  close(own);
  return fd;
}

/*
 * Whether a received message is the end of the request: an acknowledgement, a dump's end, or the echo of a deletion.
 * A refusal is an end as well: the agent asks for what may not be there. Whether all went well the pod's packet tells.
 */
static bool ends(const struct nlmsghdr *request, const struct nlmsghdr *received) {
  if (received->nlmsg_seq != request->nlmsg_seq) return false;
  if (received->nlmsg_type == NLMSG_ERROR || received->nlmsg_type == NLMSG_DONE) return true;
  if ((request->nlmsg_flags & NLM_F_ECHO) != 0 && received->nlmsg_type == RTM_DELLINK) return true;
  return (request->nlmsg_flags & NLM_F_ACK) == 0 && (received->nlmsg_flags & NLM_F_MULTI) == 0;
}

/* Sends a datagram, and waits for the end of each request in it: the kernel answers them in their order. */
static void exchange(int fd, char *datagram, size_t size) {
  static char received[MOST_DATAGRAM * 4];
  if (send(fd, datagram, size, 0) != (ssize_t)size) fail("send");
  struct nlmsghdr *request = (struct nlmsghdr *)datagram;
  unsigned left = (unsigned)size;
  while (NLMSG_OK(request, left)) {
    ssize_t got = recv(fd, received, sizeof received, 0);
    if (got < 0) fail("receive");
    unsigned rest = (unsigned)got;
    for (struct nlmsghdr *each = (struct nlmsghdr *)received; NLMSG_OK(each, rest); each = NLMSG_NEXT(each, rest))
      if (NLMSG_OK(request, left) && ends(request, each)) request = NLMSG_NEXT(request, left);
  }
}

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

/* The bytes that a line of hexadecimal digits stands for. */
static size_t bytes_of(const char *text, char *bytes) {
  size_t size = 0;
  for (; text[0] > ' ' && text[1] > ' '; text += 2) bytes[size++] = (char)(digit(text[0]) << 4 | digit(text[1]));
  return size;
}

static bool skip(const char **text, const char *word) {
  size_t size = strlen(word);
  if (strncmp(*text, word, size) != 0) return false;
  *text += size;
  return true;
}

int main(void) {
  static char text[MOST_FILE], datagram[MOST_DATAGRAM] __attribute__((aligned(4)));
  const char *command = variable("CNI_COMMAND");
  if (strcmp(command, "VERSION") == 0) {
    puts("{\"cniVersion\": \"1.0.0\", \"supportedVersions\": [\"1.0.0\"]}");
    return 0;
  }
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.%s", variable("CNI_PATH"), variable("CNI_CONTAINERID"), command);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path);
  ssize_t size = read(file, text, sizeof text - 1);
  if (size < 0) fail(path);
  close(file);
  int host = -1, pod = -1, netns = open(variable("CNI_NETNS"), O_RDONLY | O_CLOEXEC);
  if (netns < 0) fail("open CNI_NETNS");
  const char *at = text;
  while (*at != '\0' && *at != '{') {
    if (skip(&at, "netns ")) {
      if (dup3(netns, atoi(at), O_CLOEXEC) < 0) fail("dup3");
    } else if (skip(&at, "host ")) {
      if (host < 0) host = socket_here();
      exchange(host, datagram, bytes_of(at, datagram));
    } else if (skip(&at, "pod ")) {
      if (pod < 0) pod = socket_in(netns);
      exchange(pod, datagram, bytes_of(at, datagram));
    }
    at = strchr(at, '\n');
    if (at == NULL) return 0;
    at++;
  }
  fwrite(at, 1, (size_t)(text + size - at), stdout);
  return 0;
}
