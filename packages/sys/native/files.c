/* Files, mounts and inotify: thin calls over descriptors and paths. */
#include "heddle.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

HD_SYSTEM_CALL(sys_open, "open", path.text,
               struct hd_path path = hd_path(&call, 0); int flags = hd_int(&call, 1);
               uint32_t mode = hd_uint(&call, 2),
               open(path.text, flags | O_CLOEXEC, (mode_t)mode))

HD_SYSTEM_CALL(sys_fsync, "fsync", NULL, int fd = hd_int(&call, 0), fsync(fd))

HD_SYSTEM_CALL(sys_mkdir, "mkdir", path.text,
               struct hd_path path = hd_path(&call, 0); uint32_t mode = hd_uint(&call, 1),
               mkdir(path.text, (mode_t)mode))

HD_SYSTEM_CALL(sys_unlink, "unlink", path.text, struct hd_path path = hd_path(&call, 0), unlink(path.text))

/* Follows the source, so that /proc/self/fd/N gives a file without a name (O_TMPFILE) one. */
HD_SYSTEM_CALL(sys_link, "linkat", target.text,
               struct hd_path source = hd_path(&call, 0); struct hd_path target = hd_path(&call, 1),
               linkat(AT_FDCWD, source.text, AT_FDCWD, target.text, AT_SYMLINK_FOLLOW))

HD_SYSTEM_CALL(sys_mount, "mount", target.text,
               struct hd_path source = hd_path(&call, 0); struct hd_path target = hd_path(&call, 1);
               uint32_t flags = hd_uint(&call, 2),
               mount(source.text, target.text, "none", flags, NULL))

/* A file system that is not bound from elsewhere, with its own options, such as `size=64k` of tmpfs. */
HD_SYSTEM_CALL(sys_mount_new, "mount", target.text,
               struct hd_path type = hd_path(&call, 0); struct hd_path target = hd_path(&call, 1);
               uint32_t flags = hd_uint(&call, 2); struct hd_path options = hd_path(&call, 3),
               mount("heddle", target.text, type.text, flags, options.text))

/* From now on the calling thread, and what it starts, has mounts of its own. */
HD_SYSTEM_CALL(unshare_mounts, "unshare", NULL, (void)0, unshare(CLONE_NEWNS))

HD_SYSTEM_CALL(sys_umount, "umount", target.text,
               struct hd_path target = hd_path(&call, 0); int flags = hd_int(&call, 1),
               umount2(target.text, flags))

HD_SYSTEM_CALL(inotify_create, "inotify_init1", NULL, (void)0, inotify_init1(IN_CLOEXEC | IN_NONBLOCK))

HD_SYSTEM_CALL(inotify_add, "inotify_add_watch", path.text,
               int fd = hd_int(&call, 0); struct hd_path path = hd_path(&call, 1);
               uint32_t mask = hd_uint(&call, 2),
               inotify_add_watch(fd, path.text, mask))

HD_SYSTEM_CALL(inotify_remove, "inotify_rm_watch", NULL,
               int fd = hd_int(&call, 0); int descriptor = hd_int(&call, 1), inotify_rm_watch(fd, descriptor))

/* statfs(path): the file system's magic number. */
static napi_value sys_statfs(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  struct hd_path path = hd_path(&call, 0);
  if (call.failed) return NULL;
  struct statfs facts;
  int result;
  HD_RETRY(result, statfs(path.text, &facts));
  if (result < 0) return hd_fail(&call, errno, "statfs", path.text);
  return hd_number(env, (uint32_t)facts.f_type);
}

/* linkCount(fd): how many names the file has. */
static napi_value link_count(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  if (call.failed) return NULL;
  struct stat facts;
  if (fstat(fd, &facts) < 0) return hd_fail(&call, errno, "fstat", NULL);
  return hd_number(env, (double)facts.st_nlink);
}

/* close(fd). Never repeated: Linux frees the number even when it reports EINTR. */
static napi_value sys_close(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  if (call.failed) return NULL;
  if (close(fd) < 0 && errno != EINTR) return hd_fail(&call, errno, "close", NULL);
  return NULL;
}

/* read(fd, max): bytes, empty at the end; undefined when it would block. */
static napi_value sys_read(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  uint32_t max = hd_uint(&call, 1);
  if (call.failed) return NULL;
  uint8_t room[HD_ROOM], *buffer = max <= HD_ROOM ? room : malloc(max);
  if (buffer == NULL) return hd_fail(&call, ENOMEM, "read", NULL);
  ssize_t size;
  HD_RETRY(size, read(fd, buffer, max));
  napi_value result = NULL;
  if (size >= 0) {
    result = hd_copy(env, buffer, (size_t)size);
  } else if (errno != EAGAIN) {
    hd_fail(&call, errno, "read", NULL);
  }
  if (buffer != room) free(buffer);
  return result;
}

/* write(fd, bytes): how many were written. */
static napi_value sys_write(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int fd = hd_int(&call, 0);
  struct hd_bytes bytes = hd_bytes(&call, 1);
  if (call.failed) return NULL;
  ssize_t size;
  HD_RETRY(size, write(fd, bytes.data, bytes.size));
  if (size < 0) return hd_fail(&call, errno, "write", NULL);
  return hd_number(env, (double)size);
}

struct text {
  char *data;
  size_t size;
};

/* Reads to the end of a file whose size is not known before (as in /proc). Returns an errno. */
static int read_all(int fd, struct text *text) {
  for (size_t capacity = 4096;; capacity *= 2) {
    char *grown = realloc(text->data, capacity);
    if (grown == NULL) return ENOMEM;
    text->data = grown;
    while (text->size < capacity) {
      ssize_t size;
      HD_RETRY(size, read(fd, text->data + text->size, capacity - text->size));
      if (size < 0) return errno;
      if (size == 0) return 0;
      text->size += (size_t)size;
    }
  }
}

/* readFile(netns | -1, path): text. Opened and read inside the namespace: some sysctls look at the reader. */
static napi_value read_file(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int home, fd, netns = hd_int(&call, 0);
  struct hd_path path = hd_path(&call, 1);
  if (call.failed) return NULL;
  if (!hd_enter_netns(netns, &home)) return hd_fail(&call, errno, "setns", NULL);
  struct text text = {NULL, 0};
  const char *syscall = "open";
  int errnum = 0;
  HD_RETRY(fd, open(path.text, O_RDONLY | O_CLOEXEC));
  if (fd < 0) {
    errnum = errno;
  } else {
    syscall = "read";
    errnum = read_all(fd, &text);
    close(fd);
  }
  hd_leave_netns(home);
  napi_value result = NULL;
  if (errnum != 0) {
    hd_fail(&call, errnum, syscall, path.text);
  } else {
    napi_create_string_utf8(env, text.data, text.size, &result);
  }
  free(text.data);
  return result;
}

/* Puts a text into a file that exists, with one write. Returns an errno and the call that it is from. */
static int put_text(const char *path, const void *text, size_t length, const char **syscall) {
  int fd, errnum = 0;
  ssize_t size;
  *syscall = "open";
  HD_RETRY(fd, open(path, O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (fd < 0) return errno;
  *syscall = "write";
  HD_RETRY(size, write(fd, text, length));
  if (size < 0) {
    errnum = errno;
  } else if ((size_t)size != length) {
    errnum = EIO;
  }
  if (close(fd) < 0 && errnum == 0 && errno != EINTR) errnum = errno;
  return errnum;
}

/* writeFile(netns | -1, path, bytes): one write to a file that exists. */
static napi_value write_file(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int home, netns = hd_int(&call, 0);
  struct hd_path path = hd_path(&call, 1);
  struct hd_bytes bytes = hd_bytes(&call, 2);
  if (call.failed) return NULL;
  if (!hd_enter_netns(netns, &home)) return hd_fail(&call, errno, "setns", NULL);
  const char *syscall;
  int errnum = put_text(path.text, bytes.data, bytes.size, &syscall);
  hd_leave_netns(home);
  return errnum == 0 ? NULL : hd_fail(&call, errnum, syscall, path.text);
}

/* writeFiles(netns | -1, "path NUL text NUL ..."): an errno for each file, 0 for none. */
static napi_value write_files(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  int home, netns = hd_int(&call, 0);
  struct hd_bytes files = hd_bytes(&call, 1);
  if (call.failed) return NULL;
  /* Every other NUL ends a file. */
  size_t ends = 0;
  for (size_t i = 0; i < files.size; i++) ends += files.data[i] == 0;
  size_t count = ends / 2;
  if (ends % 2 != 0 || (files.size > 0 && files.data[files.size - 1] != 0)) return hd_fail(&call, EINVAL, "write", NULL);
  int *errnum = calloc(count + 1, sizeof *errnum);
  if (errnum == NULL) return hd_fail(&call, ENOMEM, "write", NULL);
  if (!hd_enter_netns(netns, &home)) {
    int refusal = errno;
    free(errnum);
    return hd_fail(&call, refusal, "setns", NULL);
  }
  const char *at = (const char *)files.data;
  for (size_t i = 0; i < count; i++) {
    const char *text = at + strlen(at) + 1;
    const char *syscall;
    errnum[i] = put_text(at, text, strlen(text), &syscall);
    at = text + strlen(text) + 1;
  }
  hd_leave_netns(home);
  napi_value list = NULL;
  napi_create_array_with_length(env, count, &list);
  for (size_t i = 0; i < count; i++) napi_set_element(env, list, (uint32_t)i, hd_number(env, errnum[i]));
  free(errnum);
  return list;
}

void hd_register_files(napi_env env, napi_value exports) {
  static const struct hd_export list[] = {
      {"open", sys_open},           {"close", sys_close},
      {"fsync", sys_fsync},         {"read", sys_read},
      {"write", sys_write},         {"readFile", read_file},
      {"writeFile", write_file},    {"link", sys_link},
      {"mkdir", sys_mkdir},         {"unlink", sys_unlink},
      {"statfs", sys_statfs},       {"mount", sys_mount},
      {"umount", sys_umount},       {"inotifyCreate", inotify_create},
      {"mountNew", sys_mount_new},  {"unshareMounts", unshare_mounts},
      {"inotifyAdd", inotify_add},  {"inotifyRemove", inotify_remove},
      {"writeFiles", write_files},  {"linkCount", link_count},
  };
  hd_define(env, exports, list, sizeof list / sizeof *list);
}
