#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "crash.h"

size_t tracee_read(pid_t thread, uint64_t address, void *into, size_t size) {
  size_t done = 0;
  /* Page by page: what crosses into a page that is not there would fail as a whole. */
  while (done < size) {
    size_t in_page = 4096 - (size_t)((address + done) & 4095);
    size_t piece = size - done < in_page ? size - done : in_page;
    struct iovec here = {(char *)into + done, piece}, there = {(void *)(uintptr_t)(address + done), piece};
    ssize_t read = process_vm_readv(thread, &here, 1, &there, 1, 0);
    if (read <= 0) break;
    done += (size_t)read;
  }
  return done;
}

bool tracee_text(pid_t thread, uint64_t address, char *into, size_t room) {
  into[0] = '\0';
  if (address == 0) return false;
  size_t size = 0;
  while (size + 1 < room) {
    size_t in_page = 4096 - (size_t)((address + size) & 4095);
    size_t piece = room - 1 - size < in_page ? room - 1 - size : in_page;
    size_t read = tracee_read(thread, address + size, into + size, piece);
    if (read == 0 || memchr(into + size, '\0', read) != NULL) {
      if (read == 0) into[size] = '\0';
      return read != 0 || size != 0;
    }
    size += read;
  }
  into[size] = '\0';
  return true;
}

void tracee_target(pid_t thread, int fd, char *into, size_t room) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread, fd);
  ssize_t size = readlink(path, into, room - 1);
  into[size < 0 ? 0 : size] = '\0';
}

/* A number of /proc/THREAD/status; 0 for a thread that is not there. */
static pid_t status_of(pid_t thread, const char *field) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
  FILE *status = fopen(path, "re");
  if (status == NULL) return 0;
  pid_t number = 0;
  while (fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, field, strlen(field)) != 0) continue;
    number = (pid_t)strtol(line + strlen(field), NULL, 10);
    break;
  }
  fclose(status);
  return number;
}

pid_t tracee_process(pid_t thread) { return status_of(thread, "Tgid:"); }

bool tracee_is_ours(pid_t thread) { return status_of(thread, "TracerPid:") == getpid(); }

int tracee_copy(pid_t process, int fd) {
  int handle = (int)syscall(SYS_pidfd_open, process, 0);
  if (handle < 0) return -1;
  int copy = (int)syscall(SYS_pidfd_getfd, handle, fd, 0);
  close(handle);
  return copy;
}
