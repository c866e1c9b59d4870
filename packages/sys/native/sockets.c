/* Sockets of any family, opened in a given network namespace, and the ioctls that need one. */
#include "heddle.h"

#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  STREAM_CHUNK = 64 * 1024,
  /* The kernel decides from the request alone how much it copies. */
  IOCTL_ROOM = 16 * 1024,
  /* Descriptors in one message; the kernel closes those that come on top. */
  MOST_DESCRIPTORS = 16,
};

/* socket(netns | -1, family, type, protocol): a descriptor. */
static napi_value sys_socket(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int netns = hd_int(&call, 0), family = hd_int(&call, 1), type = hd_int(&call, 2);
  int home, protocol = hd_int(&call, 3);
  if (call.failed) return NULL;
  if (!hd_enter_netns(netns, &home)) return hd_fail(&call, errno, "setns", NULL);
  int fd = socket(family, type | SOCK_CLOEXEC, protocol);
  hd_leave_netns(home);
  if (fd < 0) return hd_fail(&call, errno, "socket", NULL);
  return hd_number(env, fd);
}

HD_SYSTEM_CALL(sys_bind, "bind", NULL,
               int fd = hd_int(&call, 0); struct hd_bytes address = hd_bytes(&call, 1),
               bind(fd, (const struct sockaddr *)address.data, (socklen_t)address.size))

HD_SYSTEM_CALL(sys_listen, "listen", NULL, int fd = hd_int(&call, 0); int backlog = hd_int(&call, 1),
               listen(fd, backlog))

HD_SYSTEM_CALL(sys_setsockopt, "setsockopt", NULL,
               int fd = hd_int(&call, 0); int level = hd_int(&call, 1); int name = hd_int(&call, 2);
               struct hd_bytes value = hd_bytes(&call, 3),
               setsockopt(fd, level, name, value.data, (socklen_t)value.size))

/* attachFilter(fd, program): the bytes are the instructions, struct sock_filter each. */
HD_SYSTEM_CALL(attach_filter, "setsockopt", NULL,
               int fd = hd_int(&call, 0); struct hd_bytes code = hd_bytes(&call, 1),
               setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &(struct sock_fprog){
                   .len = (unsigned short)(code.size / sizeof(struct sock_filter)),
                   .filter = (struct sock_filter *)code.data}, sizeof(struct sock_fprog)))

/* Not repeated on EINTR: the connection goes on by itself, and a second call would say EALREADY. */
static napi_value sys_connect(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  struct hd_bytes address = hd_bytes(&call, 1);
  if (call.failed) return NULL;
  if (connect(fd, (const struct sockaddr *)address.data, (socklen_t)address.size) < 0) {
    return hd_fail(&call, errno, "connect", NULL);
  }
  return NULL;
}

/* accept(fd, flags): a descriptor; undefined when nobody waits. */
static napi_value sys_accept(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int peer, fd = hd_int(&call, 0), flags = hd_int(&call, 1);
  if (call.failed) return NULL;
  HD_RETRY(peer, accept4(fd, NULL, NULL, flags | SOCK_CLOEXEC));
  if (peer >= 0) return hd_number(env, peer);
  return errno == EAGAIN ? NULL : hd_fail(&call, errno, "accept", NULL);
}

/* send(fd, bytes, flags, address): how many were sent. An empty address means the connected peer. */
static napi_value sys_send(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  struct hd_bytes bytes = hd_bytes(&call, 1);
  int flags = hd_int(&call, 2);
  struct hd_bytes to = hd_bytes(&call, 3);
  if (call.failed) return NULL;
  const struct sockaddr *address = to.size == 0 ? NULL : (const struct sockaddr *)to.data;
  ssize_t size;
  HD_RETRY(size, sendto(fd, bytes.data, bytes.size, flags | MSG_NOSIGNAL, address, (socklen_t)to.size));
  if (size < 0) return hd_fail(&call, errno, "send", NULL);
  return hd_number(env, (double)size);
}

/* How much to receive when the caller named no limit: the whole next datagram, or a chunk of a stream. */
static ssize_t next_size(int fd, int flags) {
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0) return -1;
  if (type == SOCK_STREAM) return STREAM_CHUNK;
  ssize_t size;
  HD_RETRY(size, recv(fd, NULL, 0, flags | MSG_PEEK | MSG_TRUNC));
  return size;
}

/* recv(fd, max | -1, flags): [bytes, sender's address]; undefined when it would block. */
static napi_value sys_recv(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0), max = hd_int(&call, 1), flags = hd_int(&call, 2);
  if (call.failed) return NULL;
  ssize_t size = max >= 0 ? max : next_size(fd, flags);
  if (size < 0) return errno == EAGAIN ? NULL : hd_fail(&call, errno, "recv", NULL);
  uint8_t room[HD_ROOM], *buffer = (size_t)size <= HD_ROOM ? room : malloc((size_t)size);
  if (buffer == NULL) return hd_fail(&call, ENOMEM, "recv", NULL);
  struct sockaddr_storage from;
  socklen_t from_size = sizeof from;
  HD_RETRY(size, recvfrom(fd, buffer, (size_t)size, flags & ~MSG_TRUNC, (struct sockaddr *)&from, &from_size));
  napi_value pair = NULL;
  if (size >= 0) {
    napi_create_array_with_length(env, 2, &pair);
    napi_set_element(env, pair, 0, hd_copy(env, buffer, (size_t)size));
    napi_set_element(env, pair, 1, hd_copy(env, &from, from_size < sizeof from ? from_size : sizeof from));
  } else if (errno != EAGAIN) {
    hd_fail(&call, errno, "recv", NULL);
  }
  if (buffer != room) free(buffer);
  return pair;
}

/* sendDescriptors(fd, bytes, descriptors): how many bytes were sent. The descriptors are the bytes of an array of int. */
static napi_value send_descriptors(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  struct hd_bytes bytes = hd_bytes(&call, 1);
  struct hd_bytes list = hd_bytes(&call, 2);
  if (call.failed) return NULL;
  if (list.size > MOST_DESCRIPTORS * sizeof(int)) return hd_fail(&call, EINVAL, "sendmsg", NULL);
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
  } control = {0};
  struct iovec part = {(void *)bytes.data, bytes.size};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (list.size > 0) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(list.size);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(list.size);
    memcpy(CMSG_DATA(&control.header), list.data, list.size);
  }
  ssize_t size;
  HD_RETRY(size, sendmsg(fd, &message, MSG_NOSIGNAL));
  if (size < 0) return hd_fail(&call, errno, "sendmsg", NULL);
  return hd_number(env, (double)size);
}

/* recvDescriptors(fd, max): [bytes, descriptors]; undefined when it would block. The descriptors become the caller's. */
static napi_value recv_descriptors(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  uint32_t max = hd_uint(&call, 1);
  if (call.failed) return NULL;
  uint8_t room[HD_ROOM], *buffer = max <= HD_ROOM ? room : malloc(max);
  if (buffer == NULL) return hd_fail(&call, ENOMEM, "recvmsg", NULL);
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
  } control;
  struct iovec part = {buffer, max};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t size;
  HD_RETRY(size, recvmsg(fd, &message, MSG_CMSG_CLOEXEC));
  napi_value pair = NULL, list = NULL;
  if (size >= 0) {
    uint32_t count = 0;
    napi_create_array(env, &list);
    for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at != NULL; at = CMSG_NXTHDR(&message, at)) {
      if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS) continue;
      for (size_t i = 0; i < (at->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
        int received;
        memcpy(&received, CMSG_DATA(at) + i * sizeof received, sizeof received);
        napi_set_element(env, list, count++, hd_number(env, received));
      }
    }
    napi_create_array_with_length(env, 2, &pair);
    napi_set_element(env, pair, 0, hd_copy(env, buffer, (size_t)size));
    napi_set_element(env, pair, 1, list);
  } else if (errno != EAGAIN) {
    hd_fail(&call, errno, "recvmsg", NULL);
  }
  if (buffer != room) free(buffer);
  return pair;
}

/* getsockopt(fd, level, name, room): bytes. Some options want exactly as much room as they take. */
static napi_value sys_getsockopt(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0), level = hd_int(&call, 1), name = hd_int(&call, 2);
  uint8_t value[256];
  socklen_t size = hd_uint(&call, 3);
  if (call.failed) return NULL;
  if (size > sizeof value) size = sizeof value;
  if (getsockopt(fd, level, name, value, &size) < 0) return hd_fail(&call, errno, "getsockopt", NULL);
  return hd_copy(env, value, size < sizeof value ? size : sizeof value);
}

static napi_value end_of(napi_env env, napi_callback_info info, const char *name,
                         int (*ask)(int, struct sockaddr *, socklen_t *)) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  if (call.failed) return NULL;
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  if (ask(fd, (struct sockaddr *)&address, &size) < 0) return hd_fail(&call, errno, name, NULL);
  return hd_copy(env, &address, size < sizeof address ? size : sizeof address);
}

static int ask_own(int fd, struct sockaddr *address, socklen_t *size) { return getsockname(fd, address, size); }

static int ask_peer(int fd, struct sockaddr *address, socklen_t *size) { return getpeername(fd, address, size); }

static napi_value sys_getsockname(napi_env env, napi_callback_info info) {
  return end_of(env, info, "getsockname", ask_own);
}

static napi_value sys_getpeername(napi_env env, napi_callback_info info) {
  return end_of(env, info, "getpeername", ask_peer);
}

/*
 * One ioctl over a copy of the bytes, in a buffer that no structure outgrows; the copy as the kernel left it.
 * With `link`, the request is an ifreq that points to the copy.
 */
static napi_value copied_ioctl(struct hd_call *call, int fd, uint32_t request, struct hd_bytes bytes,
                               struct ifreq *link) {
  const char *syscall = link == NULL ? "ioctl" : "ethtool", *name = link == NULL ? NULL : link->ifr_name;
  if (bytes.size > IOCTL_ROOM) return hd_fail(call, E2BIG, syscall, name);
  uint8_t *buffer = calloc(1, IOCTL_ROOM);
  if (buffer == NULL) return hd_fail(call, ENOMEM, syscall, name);
  memcpy(buffer, bytes.data, bytes.size);
  if (link != NULL) link->ifr_data = (char *)buffer;
  int result;
  HD_RETRY(result, ioctl(fd, request, link == NULL ? (void *)buffer : (void *)link));
  napi_value left = NULL;
  if (result < 0) {
    hd_fail(call, errno, syscall, name);
  } else {
    left = hd_copy(call->env, buffer, bytes.size);
  }
  free(buffer);
  return left;
}

/* ioctl(fd, request, bytes): bytes. */
static napi_value sys_ioctl(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  uint32_t request = hd_uint(&call, 1);
  struct hd_bytes bytes = hd_bytes(&call, 2);
  return call.failed ? NULL : copied_ioctl(&call, fd, request, bytes, NULL);
}

/* ioctlValue(fd, request, value): for requests whose argument is a number instead of a place. */
HD_SYSTEM_CALL(ioctl_value, "ioctl", NULL, int fd = hd_int(&call, 0); uint32_t request = hd_uint(&call, 1);
               uint32_t value = hd_uint(&call, 2), ioctl(fd, request, (unsigned long)value))

/* ethtool(fd, ifname, command): the command as the kernel left it. */
static napi_value ethtool(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  struct hd_path name = hd_path(&call, 1);
  struct hd_bytes command = hd_bytes(&call, 2);
  if (call.failed) return NULL;
  struct ifreq link = {0};
  if (strlen(name.text) >= sizeof link.ifr_name) return hd_fail(&call, ENODEV, "ethtool", name.text);
  strcpy(link.ifr_name, name.text);
  return copied_ioctl(&call, fd, SIOCETHTOOL, command, &link);
}

void hd_register_sockets(napi_env env, napi_value exports) {
  static const struct hd_export list[] = {
      {"socket", sys_socket},         {"bind", sys_bind},
      {"connect", sys_connect},       {"listen", sys_listen},
      {"accept", sys_accept},         {"send", sys_send},
      {"recv", sys_recv},             {"setsockopt", sys_setsockopt},
      {"getsockopt", sys_getsockopt}, {"getsockname", sys_getsockname},
      {"getpeername", sys_getpeername},
      {"ioctl", sys_ioctl},           {"ethtool", ethtool},
      {"ioctlValue", ioctl_value},    {"attachFilter", attach_filter},
      {"sendDescriptors", send_descriptors}, {"recvDescriptors", recv_descriptors},
  };
  hd_define(env, exports, list, sizeof list / sizeof *list);
}
