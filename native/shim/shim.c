/*
 * What a runtime starts when the agent is to do the work: hands the call over to the agent's socket and prints the
 * answer. It decides nothing about networks. VERSION it answers by itself, from a generated table.
 *
 * Where the agent cannot serve (it is not there, or lives in other namespaces than the caller) the standalone program
 * beside this file is executed instead, under the same name and with the same input. Every wait has an end.
 *
 * What can go wrong between the two is told apart by what the agent may have done:
 *   - it cannot have begun: the standalone program does the work;
 *   - it may have begun: a DEL, which may run twice, goes to the standalone program; the caller of anything else gets
 *     error 11, "try again later", and cleans up as after any failed call.
 * A DEL that nobody can do now is put into a directory; the agent does it when it comes up.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "plugins.h"
#include "text.h"

#ifndef HEDDLE_SOCKET
#define HEDDLE_SOCKET "/run/heddle/agent.sock"
#endif
#ifndef HEDDLE_QUEUE
#define HEDDLE_QUEUE "/var/lib/heddle/queue"
#endif
#ifndef HEDDLE_DEADLINE_MS
#define HEDDLE_DEADLINE_MS 60000
#endif

/* The file that does the work without an agent, in this program's own directory. */
#define STANDALONE "heddle-cni"

enum {
  REQUEST_MAGIC = 0x31444548,  /* "HED1" in memory on a little-endian machine */
  RESPONSE_MAGIC = 0x31414548, /* "HEA1" */
  PROTOCOL_VERSION = 1,
  HAS_NETNS = 1, /* flag: the third descriptor is CNI_NETNS */
  DECLINED = 1,  /* verdict: nothing was done */

  MOST_HEAD = 1 << 20,
  MOST_STDIN = 16 << 20,
  MOST_OUTPUT = 64 << 20,
  CONNECT_MS = 5000,
};

/* CNI error codes, as they are printed. */
#define IO_FAILURE "5"
#define TRY_AGAIN "11"

/* Then `head` bytes of NUL-terminated texts (plugin type, path of this program, NAME=VALUE …), then stdin. */
struct request {
  uint32_t magic, version, flags, head, stdin_size, reserved;
  uint64_t netns_device, netns_inode; /* of CNI_NETNS, if that could be opened */
  uint64_t time;                      /* of the call: nanoseconds since the epoch */
};

/* Then stdout, then stderr. */
struct response {
  uint32_t magic, verdict;
  int32_t exit_code;
  uint32_t stdout_size, stderr_size;
};

struct call {
  char **argv;
  const char *type, *command;
  char program[PATH_MAX], standalone[PATH_MAX];
  int64_t deadline; /* milliseconds on the monotonic clock */
  char *request;    /* as it is sent */
  size_t head_size, stdin_size;
  int descriptor[3]; /* the own network and mount namespaces, and CNI_NETNS or -1 */
};

/* What came of asking the agent. */
enum asked {
  ANSWERED,
  REFUSED, /* it declined */
  ABSENT,  /* it cannot have begun */
  LOST,    /* it may have begun, and did not answer */
};

/* --- waiting, reading, writing ---------------------------------------------------------------------------- */

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Limits the next blocking calls on a socket to what is left until a time. False when nothing is. */
static bool limit(int fd, int option, int64_t until) {
  int64_t left = until - now();
  if (left <= 0) return false;
  struct timeval wait = {.tv_sec = left / 1000, .tv_usec = left % 1000 * 1000};
  return setsockopt(fd, SOL_SOCKET, option, &wait, sizeof wait) == 0;
}

static bool write_all(int fd, const char *data, size_t size) {
  while (size > 0) {
    ssize_t done = write(fd, data, size);
    if (done < 0 && errno == EAGAIN) { /* the caller's pipe may be in any mode */
      struct pollfd ready = {.fd = fd, .events = POLLOUT};
      poll(&ready, 1, 1000);
    }
    if (done < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (done > 0) data += done, size -= (size_t)done;
  }
  return true;
}

/* 1: all of it came; 0: the agent is gone, or time is up; -1: it went without having read the request. */
static int receive_all(int fd, char *data, size_t size, int64_t deadline) {
  while (size > 0) {
    if (!limit(fd, SO_RCVTIMEO, deadline)) return 0;
    ssize_t done = recv(fd, data, size, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 && errno == ECONNRESET ? -1 : 0;
    data += done;
    size -= (size_t)done;
  }
  return 1;
}

static bool print(int fd, const char *text) { return write_all(fd, text, strlen(text)); }

/* Prints an error as plugins do, and ends. Both texts must need no escaping in JSON; `code` is of digits. */
static _Noreturn void fail(const struct call *call, const char *code, const char *why) {
  char text[512];
  join(text, sizeof text, "{\n    \"code\": ", code, ",\n    \"msg\": \"", call->type, ": ", why, "\"\n}", NULL);
  print(STDOUT_FILENO, text);
  exit(1);
}

/* --- the request -------------------------------------------------------------------------------------------- */

/* Reads stdin behind the head, to its end. */
static void read_stdin(struct call *call, size_t offset) {
  size_t room = 8192;
  for (;;) {
    char *grown = realloc(call->request, offset + room);
    if (grown == NULL) fail(call, IO_FAILURE, "error reading from stdin: out of memory");
    call->request = grown;
    while (call->stdin_size < room) {
      struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
      int64_t left = call->deadline - now();
      int count = left <= 0 ? 0 : poll(&ready, 1, (int)left);
      if (count == 0) fail(call, IO_FAILURE, "error reading from stdin: it did not end in time");
      ssize_t size = read(STDIN_FILENO, call->request + offset + call->stdin_size, room - call->stdin_size);
      if (size == 0) return;
      if (size > 0) call->stdin_size += (size_t)size;
      else if (errno != EINTR && errno != EAGAIN) fail(call, IO_FAILURE, "error reading from stdin: it cannot be read");
    }
    if (room >= MOST_STDIN) fail(call, IO_FAILURE, "error reading from stdin: more than 16 MiB");
    room *= 2;
  }
}

static char *append(char *at, const char *text) { return stpcpy(at, text) + 1; }

/* Puts the request together. False for an environment that is larger than the agent takes. */
static bool prepare(struct call *call) {
  size_t head = strlen(call->type) + strlen(call->program) + 2;
  for (char **entry = environ; *entry != NULL; entry++) head += strlen(*entry) + 1;
  if (head > MOST_HEAD) return false;
  call->head_size = head;
  call->request = malloc(sizeof(struct request) + head);
  if (call->request == NULL) return false;
  char *at = append(append(call->request + sizeof(struct request), call->type), call->program);
  for (char **entry = environ; *entry != NULL; entry++) at = append(at, *entry);
  read_stdin(call, sizeof(struct request) + head);

  struct request request = {.magic = REQUEST_MAGIC,
                            .version = PROTOCOL_VERSION,
                            .head = (uint32_t)head,
                            .stdin_size = (uint32_t)call->stdin_size};
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  request.time = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
  const char *netns = getenv("CNI_NETNS");
  /* Not to be held up by whatever else may be at that path. */
  call->descriptor[2] =
      netns == NULL || *netns == '\0' ? -1 : open(netns, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat facts;
  if (call->descriptor[2] >= 0 && fstat(call->descriptor[2], &facts) == 0) {
    request.flags |= HAS_NETNS;
    request.netns_device = facts.st_dev;
    request.netns_inode = facts.st_ino;
  }
  memcpy(call->request, &request, sizeof request);
  return true;
}

/* --- the agent ---------------------------------------------------------------------------------------------- */

/* A connection, or -1. */
static int connect_agent(const struct call *call) {
  const char *path = getenv("HEDDLE_AGENT_SOCKET");
  if (path == NULL) path = HEDDLE_SOCKET;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  /* An agent that accepts nobody any more is as good as none. */
  int64_t patience = now() + CONNECT_MS;
  if (patience > call->deadline) patience = call->deadline;
  while (limit(fd, SO_SNDTIMEO, patience)) {
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    if (errno != EINTR) break;
  }
  close(fd);
  return -1;
}

/* Sends the whole request, the descriptors with its first byte. */
static bool send_request(const struct call *call, int fd) {
  int count = call->descriptor[2] >= 0 ? 3 : 2;
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof call->descriptor)];
  } control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
  control.header.cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
  memcpy(CMSG_DATA(&control.header), call->descriptor, (size_t)count * sizeof(int));
  struct iovec part = {call->request, sizeof(struct request) + call->head_size + call->stdin_size};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = CMSG_SPACE((size_t)count * sizeof(int))};
  while (part.iov_len > 0) {
    if (!limit(fd, SO_SNDTIMEO, call->deadline)) return false;
    ssize_t done = sendmsg(fd, &message, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    part.iov_base = (char *)part.iov_base + done;
    part.iov_len -= (size_t)done;
    message.msg_control = NULL;
    message.msg_controllen = 0;
  }
  return true;
}

/* Has the agent do it. With ANSWERED, `response` is filled and `output` holds stdout, then stderr. */
static enum asked ask_agent(struct call *call, struct response *response, char **output) {
  call->descriptor[0] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  call->descriptor[1] = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (call->descriptor[0] < 0 || call->descriptor[1] < 0) return ABSENT;
  int fd = connect_agent(call);
  /* An agent that did not get the whole request has done nothing. */
  if (fd < 0 || !send_request(call, fd)) return ABSENT;
  int came = receive_all(fd, (char *)response, sizeof *response, call->deadline);
  if (came != 1) return came < 0 ? ABSENT : LOST;
  if (response->magic != RESPONSE_MAGIC) return LOST;
  if (response->verdict == DECLINED) return REFUSED;
  if (response->verdict != 0 || response->stdout_size > MOST_OUTPUT || response->stderr_size > MOST_OUTPUT) return LOST;
  size_t size = (size_t)response->stdout_size + response->stderr_size;
  *output = malloc(size + 1);
  if (*output == NULL || receive_all(fd, *output, size, call->deadline) != 1) return LOST;
  return ANSWERED;
}

/* --- without the agent ---------------------------------------------------------------------------------------- */

/* Becomes the standalone program, with what was read from stdin as its stdin. Returns when there is none. */
static void become_standalone(const struct call *call) {
  if (access(call->standalone, X_OK) != 0) return;
  if (call->request != NULL) {
    int fd = memfd_create("stdin", 0);
    const char *data = call->request + sizeof(struct request) + call->head_size;
    if (fd < 0 || !write_all(fd, data, call->stdin_size) || lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, STDIN_FILENO) < 0)
      fail(call, IO_FAILURE, "cannot hand stdin over to " STANDALONE);
    if (fd != STDIN_FILENO) close(fd);
  }
  execv(call->standalone, call->argv);
}

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t so_far, const char *data, size_t size) {
  for (size_t i = 0; i < size; i++) so_far = (so_far ^ (uint8_t)data[i]) * 0x100000001b3;
  return so_far;
}

static bool make_directories(const char *path) {
  char part[PATH_MAX];
  if (strlen(path) >= sizeof part) return false;
  for (const char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
    size_t size = slash == NULL ? strlen(path) : (size_t)(slash - path);
    memcpy(part, path, size);
    part[size] = '\0';
    if (mkdir(part, 0700) < 0 && errno != EEXIST) return false;
    if (slash == NULL) return true;
  }
}

/* Leaves a DEL for the agent: a file with the request as it would have been sent. It appears whole and lasts. */
static bool enqueue(const struct call *call) {
  if (call->request == NULL) return false;
  const char *directory = getenv("HEDDLE_AGENT_QUEUE");
  if (directory == NULL) directory = HEDDLE_QUEUE;
  uint64_t key = hash(0xcbf29ce484222325, call->type, strlen(call->type) + 1);
  const char *owner[] = {getenv("CNI_CONTAINERID"), getenv("CNI_IFNAME")};
  for (int i = 0; i < 2; i++)
    if (owner[i] != NULL) key = hash(key, owner[i], strlen(owner[i]) + 1);
  key = hash(key, call->request + sizeof(struct request) + call->head_size, call->stdin_size);
  char draft[PATH_MAX], path[PATH_MAX], name[17], process[17];
  hexadecimal(name, key), hexadecimal(process, (uint64_t)getpid());
  if (!make_directories(directory) || !join(draft, sizeof draft, directory, "/.", name, ".", process, NULL) ||
      !join(path, sizeof path, directory, "/", name, ".del", NULL))
    return false;
  int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  size_t size = sizeof(struct request) + call->head_size + call->stdin_size;
  bool done = fd >= 0 && write_all(fd, call->request, size) && fsync(fd) == 0 && rename(draft, path) == 0;
  if (!done) {
    unlink(draft);
    return false;
  }
  int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return parent >= 0 && fsync(parent) == 0;
}

/* Does the call without the agent, or says why it is not done. */
static _Noreturn void do_without(const struct call *call, enum asked asked) {
  bool is_del = strcmp(call->command, "DEL") == 0;
  if (asked == LOST && !is_del) fail(call, TRY_AGAIN, "the agent did not end this call: try again later");
  become_standalone(call);
  if (asked == REFUSED)
    fail(call, TRY_AGAIN, "the agent does not serve this caller, and there is no " STANDALONE " beside the plugin");
  if (!is_del) fail(call, TRY_AGAIN, "the agent does not run, and there is no " STANDALONE " beside the plugin: try again later");
  if (enqueue(call)) exit(0);
  fail(call, TRY_AGAIN, "the agent does not run, and the call could not be left for it: try again later");
}

/* --- the call --------------------------------------------------------------------------------------------------- */

static const struct plugin *find_plugin(const char *type) {
  for (size_t i = 0; i < sizeof PLUGINS / sizeof *PLUGINS; i++)
    if (strcmp(PLUGINS[i].type, type) == 0) return &PLUGINS[i];
  return NULL;
}

/* Where this program lies, and the other one. */
static bool find_programs(struct call *call) {
  ssize_t size = readlink("/proc/self/exe", call->program, sizeof call->program - 1);
  if (size <= 0) return false;
  call->program[size] = '\0';
  const char *slash = strrchr(call->program, '/');
  if (slash == NULL || (size_t)(slash - call->program) + sizeof "/" STANDALONE > PATH_MAX) return false;
  strcpy(stpcpy(call->standalone, call->program) - strlen(slash), "/" STANDALONE);
  return true;
}

/*
 * The version that VERSION is asked with, by `"cniVersion": "1.0.0"` on stdin; NULL where that does not say one, or a person
 * at a terminal would have to type it. The text stays in `question`.
 */
static const char *asked_version(char *question, size_t room) {
  size_t size = 0;
  if (isatty(STDIN_FILENO)) return NULL;
  for (ssize_t got; size < room - 1; size += (size_t)got) {
    got = read(STDIN_FILENO, question + size, room - 1 - size);
    if (got < 0 && errno == EINTR) got = 0;
    else if (got <= 0) break;
  }
  question[size] = '\0';
  char *at = strstr(question, "\"cniVersion\"");
  if (at == NULL) return NULL;
  at += strlen("\"cniVersion\"");
  at += strspn(at, " \t\r\n");
  if (*at++ != ':') return NULL;
  at += strspn(at, " \t\r\n");
  if (*at++ != '"') return NULL;
  size_t length = strspn(at, "0123456789.");
  if (length == 0 || length > 32 || at[length] != '"') return NULL;
  at[length] = '\0';
  return at;
}

/* The table's answer, with the version that was asked with in place of its own. */
static int answer_version(const struct plugin *plugin) {
  static const char before[] = "{\"cniVersion\":\"";
  char question[4096], answer[4096];
  const char *asked = asked_version(question, sizeof question), *rest = strchr(plugin->version + sizeof before - 1, '"');
  bool is_own = asked == NULL || rest == NULL || !join(answer, sizeof answer, before, asked, rest, NULL);
  return print(STDOUT_FILENO, is_own ? plugin->version : answer) ? 0 : 1;
}

static int64_t patience(void) {
  const char *text = getenv("HEDDLE_AGENT_DEADLINE_MS");
  int64_t told = 0;
  while (text != NULL && *text >= '0' && *text <= '9' && told < INT_MAX) told = told * 10 + *text++ - '0';
  return told > 0 && told < INT_MAX ? told : HEDDLE_DEADLINE_MS;
}

int main(int argc, char **argv) {
  const char *name = argc > 0 ? argv[0] : "", *slash = strrchr(name, '/'), *command = getenv("CNI_COMMAND");
  static struct call call = {.descriptor = {-1, -1, -1}};
  call.argv = argv;
  call.type = slash == NULL ? name : slash + 1;
  call.command = command == NULL ? "" : command;
  call.deadline = now() + patience();
  const struct plugin *plugin = find_plugin(call.type);
  if (plugin != NULL && argc == 1 && *call.command == '\0') return print(STDERR_FILENO, plugin->about) ? 0 : 1;
  if (plugin != NULL && strcmp(call.command, "VERSION") == 0) return answer_version(plugin);

  bool found = find_programs(&call);
  /* A daemon, or a name that the agent would not know either. */
  if (plugin == NULL || argc != 1) {
    if (found) become_standalone(&call);
    print(STDERR_FILENO, name);
    print(STDERR_FILENO, ": this program hands calls of CNI plugins over to Heddle's agent, and knows none of this name\n");
    return 2;
  }
  struct response response;
  char *output = NULL;
  enum asked asked = found && prepare(&call) ? ask_agent(&call, &response, &output) : ABSENT;
  if (asked != ANSWERED) do_without(&call, asked);
  bool told = write_all(STDERR_FILENO, output + response.stdout_size, response.stderr_size) &
              write_all(STDOUT_FILENO, output, response.stdout_size);
  return told ? response.exit_code : 1;
}
