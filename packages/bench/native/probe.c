/* The pod's first packet: whether an attachment that was announced is one. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "driver.h"

int probe_listener(void) {
  int fd = node_socket(NULL, AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK);
  int both = 0;
  struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
  if (fd < 0 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both) < 0 ||
      bind(fd, (struct sockaddr *)&any, sizeof any) < 0)
    driver_fail("listen for the packets of pods");
  return fd;
}

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

/* The listener's port at an address. Its size, or zero for what is no address. */
static socklen_t target(const char *address, int listener, union address *to) {
  struct sockaddr_in6 own;
  socklen_t size = sizeof own;
  if (getsockname(listener, (struct sockaddr *)&own, &size) < 0) driver_fail("getsockname");
  memset(to, 0, sizeof *to);
  if (inet_pton(AF_INET, address, &to->v4.sin_addr) == 1) {
    to->v4.sin_family = AF_INET;
    to->v4.sin_port = own.sin6_port;
    return sizeof to->v4;
  }
  memset(to, 0, sizeof *to);
  if (inet_pton(AF_INET6, address, &to->v6.sin6_addr) != 1) return 0;
  to->v6.sin6_family = AF_INET6;
  to->v6.sin6_port = own.sin6_port;
  return sizeof to->v6;
}

static int await(int listener, int64_t token, int64_t deadline, int64_t *arrived) {
  for (;;) {
    int64_t left = deadline - driver_now();
    if (left <= 0) return ETIMEDOUT;
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    if (poll(&ready, 1, (int)((left + 999999) / 1000000)) <= 0) continue;
    int64_t received = 0;
    ssize_t size = recv(listener, &received, sizeof received, 0);
    if (size == sizeof received && received == token) {
      *arrived = driver_now();
      return 0;
    }
  }
}

int probe_send(const char *netns, const char *address, int listener, int64_t patience, int64_t *arrived) {
  union address to;
  socklen_t size = target(address, listener, &to);
  if (size == 0) return EINVAL;
  int fd = node_socket(netns, to.any.sa_family, SOCK_DGRAM);
  if (fd < 0) return errno;
  /* The time tells this packet from a late one of the pod before. */
  int64_t token = driver_now();
  int error = sendto(fd, &token, sizeof token, 0, &to.any, size) == sizeof token ? 0 : errno;
  if (error == 0) error = await(listener, token, token + patience, arrived);
  close(fd);
  return error;
}

int probe_interface(const char *netns, const char *name) {
  struct ifreq request = {0};
  int fd = node_socket(netns, AF_INET, SOCK_DGRAM);
  if (fd < 0) return -1;
  strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  int found = ioctl(fd, SIOCGIFINDEX, &request) == 0 ? 1 : errno == ENODEV ? 0 : -1;
  close(fd);
  return found;
}
