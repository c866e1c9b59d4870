/*
 * What shim.c needs of a C library, under the same names. A C library gets itself ready for programs of any size before
 * main() begins: among others it asks the processor for all of its features, which a virtual machine leaves to its host. Of
 * a client's life that would be a third.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv);

/* --- the beginning ------------------------------------------------------------------------------------------ */

#if defined(__x86_64__)
__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call begin\n hlt\n");

static long system_call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n_start: mov x29, #0\n mov x30, #0\n mov x0, sp\n b begin\n");

static long system_call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
#error "no system calls for this processor: add how they are made"
#endif

char **environ;

/* What the kernel has put on the stack: the number of arguments, they, NULL, the environment, NULL. */
__attribute__((used)) _Noreturn void begin(long *stack) {
  char **argv = (char **)(stack + 1);
  environ = argv + stack[0] + 1;
  exit(main((int)stack[0], argv));
}

void exit(int status) {
  for (;;) system_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

/* --- system calls ------------------------------------------------------------------------------------------- */

static int error;
int *__errno_location(void) { return &error; }

static long result_of(long result) {
  if (result >= 0 || result < -4095) return result;
  error = (int)-result;
  return -1;
}

#define CALL(number, a, b, c, d, e, f) \
  result_of(system_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
  va_end(more);
  return (int)CALL(SYS_openat, AT_FDCWD, path, flags, mode, 0, 0);
}

int close(int fd) { return (int)CALL(SYS_close, fd, 0, 0, 0, 0, 0); }
ssize_t read(int fd, void *data, size_t size) { return CALL(SYS_read, fd, data, size, 0, 0, 0); }
ssize_t write(int fd, const void *data, size_t size) { return CALL(SYS_write, fd, data, size, 0, 0, 0); }
off_t lseek(int fd, off_t offset, int whence) { return CALL(SYS_lseek, fd, offset, whence, 0, 0, 0); }
int fsync(int fd) { return (int)CALL(SYS_fsync, fd, 0, 0, 0, 0, 0); }
int fstat(int fd, struct stat *facts) { return (int)CALL(SYS_fstat, fd, facts, 0, 0, 0, 0); }
int dup2(int from, int to) { return from == to ? to : (int)CALL(SYS_dup3, from, to, 0, 0, 0, 0); }
int memfd_create(const char *name, unsigned flags) { return (int)CALL(SYS_memfd_create, name, flags, 0, 0, 0, 0); }
pid_t getpid(void) { return (pid_t)CALL(SYS_getpid, 0, 0, 0, 0, 0, 0); }

int access(const char *path, int mode) { return (int)CALL(SYS_faccessat, AT_FDCWD, path, mode, 0, 0, 0); }
int mkdir(const char *path, mode_t mode) { return (int)CALL(SYS_mkdirat, AT_FDCWD, path, mode, 0, 0, 0); }
int unlink(const char *path) { return (int)CALL(SYS_unlinkat, AT_FDCWD, path, 0, 0, 0, 0); }
int rename(const char *from, const char *to) { return (int)CALL(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0, 0); }
ssize_t readlink(const char *path, char *text, size_t room) { return CALL(SYS_readlinkat, AT_FDCWD, path, text, room, 0, 0); }
int execv(const char *path, char *const *argv) { return (int)CALL(SYS_execve, path, argv, environ, 0, 0, 0); }

int socket(int family, int type, int protocol) { return (int)CALL(SYS_socket, family, type, protocol, 0, 0, 0); }
int connect(int fd, const struct sockaddr *to, socklen_t size) { return (int)CALL(SYS_connect, fd, to, size, 0, 0, 0); }
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) { return CALL(SYS_sendmsg, fd, message, flags, 0, 0, 0); }
ssize_t recv(int fd, void *data, size_t size, int flags) { return CALL(SYS_recvfrom, fd, data, size, flags, 0, 0); }

int setsockopt(int fd, int level, int option, const void *value, socklen_t size) {
  return (int)CALL(SYS_setsockopt, fd, level, option, value, size, 0);
}

int isatty(int fd) {
  char settings[256];
  return CALL(SYS_ioctl, fd, TCGETS, settings, 0, 0, 0) == 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) { return (int)CALL(SYS_clock_gettime, clock, time, 0, 0, 0, 0); }

int poll(struct pollfd *list, nfds_t count, int milliseconds) {
  struct timespec limit = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L};
  return (int)CALL(SYS_ppoll, list, count, milliseconds < 0 ? NULL : &limit, NULL, 0, 0);
}

/* --- memory, which a client that ends does not give back ----------------------------------------------------- */

/* Before each piece its size, header included. */
union header {
  size_t size;
  max_align_t alignment;
};

static void *piece(long address, size_t size) {
  if (address == -1) return NULL;
  union header *header = (union header *)address;
  header->size = size;
  return header + 1;
}

void *malloc(size_t size) {
  size_t whole = size + sizeof(union header);
  return piece(CALL(SYS_mmap, 0, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), whole);
}

void *realloc(void *old, size_t size) {
  union header *header = (union header *)old - 1;
  size_t whole = size + sizeof *header;
  return piece(CALL(SYS_mremap, header, header->size, whole, MREMAP_MAYMOVE, 0, 0), whole);
}

/* --- texts. A loop with PLAIN in it is not taken for what it is, and replaced by a call of the same function. --- */

#define PLAIN __asm__ volatile("")

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  for (size_t i = 0; i < size; i++) {
    PLAIN;
    ((char *)to)[i] = ((const char *)from)[i];
  }
  return to;
}

void *memset(void *data, int value, size_t size) {
  for (size_t i = 0; i < size; i++) {
    PLAIN;
    ((char *)data)[i] = (char)value;
  }
  return data;
}

size_t strlen(const char *text) {
  const char *end = text;
  while (*end != '\0') {
    PLAIN;
    end++;
  }
  return (size_t)(end - text);
}

static int difference(char a, char b) { return (unsigned char)a - (unsigned char)b; }

int strncmp(const char *a, const char *b, size_t most) {
  for (size_t i = 0; i < most; i++)
    if (a[i] != b[i] || a[i] == '\0') return difference(a[i], b[i]);
  return 0;
}

int strcmp(const char *a, const char *b) { return strncmp(a, b, SIZE_MAX); }

char *stpcpy(char *restrict to, const char *restrict from) {
  size_t size = strlen(from);
  memcpy(to, from, size + 1);
  return to + size;
}

char *strcpy(char *restrict to, const char *restrict from) {
  stpcpy(to, from);
  return to;
}

char *strchr(const char *text, int sign) {
  for (;; text++) {
    if (*text == (char)sign) return (char *)text;
    if (*text == '\0') return NULL;
  }
}

char *strrchr(const char *text, int sign) {
  for (const char *at = text + strlen(text);; at--) {
    if (*at == (char)sign) return (char *)at;
    if (at == text) return NULL;
  }
}

char *strstr(const char *text, const char *part) {
  for (size_t size = strlen(part);; text++) {
    if (strncmp(text, part, size) == 0) return (char *)text;
    if (*text == '\0') return NULL;
  }
}

size_t strspn(const char *text, const char *signs) {
  size_t count = 0;
  while (text[count] != '\0' && strchr(signs, text[count]) != NULL) count++;
  return count;
}

char *getenv(const char *name) {
  size_t size = strlen(name);
  for (char **entry = environ; *entry != NULL; entry++)
    if (strncmp(*entry, name, size) == 0 && (*entry)[size] == '=') return *entry + size + 1;
  return NULL;
}
