/* Files and directories, for src/host/fs*.ts. */
#include "host.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A function that is one system call on a path, and gives back its number. */
#define PATH_CALL(name, syscall, expression)                                                                   \
  HOST_FUNCTION(name) {                                                                                        \
    struct host_path path;                                                                                     \
    if (!host_get_path(context, argument[0], &path)) return JS_EXCEPTION;                                      \
    int result;                                                                                                \
    HOST_RETRY(result, expression);                                                                            \
    return result < 0 ? host_fail(context, errno, syscall, path.text) : JS_NewInt32(context, result);          \
  }

#define PATHS_CALL(name, syscall, expression)                                                                  \
  HOST_FUNCTION(name) {                                                                                        \
    struct host_path path, other;                                                                              \
    if (!host_get_path(context, argument[0], &path)) return JS_EXCEPTION;                                      \
    if (!host_get_path(context, argument[1], &other)) return JS_EXCEPTION;                                     \
    int result;                                                                                                \
    HOST_RETRY(result, expression);                                                                            \
    return result < 0 ? host_fail(context, errno, syscall, path.text) : JS_UNDEFINED;                          \
  }

#define FD_CALL(name, syscall, expression)                                                                     \
  HOST_FUNCTION(name) {                                                                                        \
    int fd = host_get_int(context, argument[0]), result;                                                       \
    HOST_RETRY(result, expression);                                                                            \
    return result < 0 ? host_fail(context, errno, syscall, NULL) : JS_UNDEFINED;                               \
  }

#define INT(index) host_get_int(context, argument[index])

PATH_CALL(sys_open, "open", open(path.text, INT(1) | O_CLOEXEC, (mode_t)INT(2)))
PATH_CALL(sys_access, "access", access(path.text, INT(1)))
PATH_CALL(sys_unlink, "unlink", unlink(path.text))
PATH_CALL(sys_rmdir, "rmdir", rmdir(path.text))
PATH_CALL(sys_mkdir, "mkdir", mkdir(path.text, (mode_t)INT(1)))
PATH_CALL(sys_chmod, "chmod", chmod(path.text, (mode_t)INT(1)))
PATHS_CALL(sys_rename, "rename", rename(path.text, other.text))
PATHS_CALL(sys_link, "link", link(path.text, other.text))
FD_CALL(sys_fsync, "fsync", fsync(fd))
FD_CALL(sys_ftruncate, "ftruncate", ftruncate(fd, INT(1)))

/* Never repeated: Linux frees the number even when it reports EINTR. */
HOST_FUNCTION(sys_close) {
  if (close(INT(0)) < 0 && errno != EINTR) return host_fail(context, errno, "close", NULL);
  return JS_UNDEFINED;
}

/* (fd, bytes, offset, length, position or -1): how many bytes were moved. */
static JSValue transfer(JSContext *context, JSValueConst *argument, bool writes) {
  size_t size;
  uint8_t *bytes = JS_GetUint8Array(context, &size, argument[1]);
  int64_t offset = -1, length = -1, position = -1;
  if (bytes == NULL && JS_HasException(context)) return JS_EXCEPTION;
  JS_ToInt64(context, &offset, argument[2]);
  JS_ToInt64(context, &length, argument[3]);
  JS_ToInt64(context, &position, argument[4]);
  if (offset < 0 || length < 0 || (uint64_t)offset > size || (uint64_t)length > size - (uint64_t)offset) {
    return JS_ThrowRangeError(context, "offset or length is out of range");
  }
  int fd = INT(0);
  ssize_t moved;
  if (writes) {
    HOST_RETRY(moved, position < 0 ? write(fd, bytes + offset, (size_t)length)
                                   : pwrite(fd, bytes + offset, (size_t)length, position));
  } else {
    HOST_RETRY(moved, position < 0 ? read(fd, bytes + offset, (size_t)length)
                                   : pread(fd, bytes + offset, (size_t)length, position));
  }
  if (moved < 0) return host_fail(context, errno, writes ? "write" : "read", NULL);
  return JS_NewInt64(context, moved);
}

HOST_FUNCTION(sys_read) { return transfer(context, argument, false); }

HOST_FUNCTION(sys_write) { return transfer(context, argument, true); }

HOST_FUNCTION(sys_readlink) {
  struct host_path path, target;
  if (!host_get_path(context, argument[0], &path)) return JS_EXCEPTION;
  ssize_t size = readlink(path.text, target.text, sizeof target.text);
  if (size < 0) return host_fail(context, errno, "readlink", path.text);
  return JS_NewStringLen(context, target.text, (size_t)size);
}

HOST_FUNCTION(sys_realpath) {
  struct host_path path, real;
  if (!host_get_path(context, argument[0], &path)) return JS_EXCEPTION;
  if (realpath(path.text, real.text) == NULL) return host_fail(context, errno, "realpath", path.text);
  return JS_NewString(context, real.text);
}

static int not_dots(const struct dirent *entry) {
  return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* By bytes, whatever the locale is. */
static int compare(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* (path): the names of its entries and their types (DT_...), in turns. */
HOST_FUNCTION(sys_readdir) {
  struct host_path path;
  struct dirent **entries;
  if (!host_get_path(context, argument[0], &path)) return JS_EXCEPTION;
  int length = scandir(path.text, &entries, not_dots, compare);
  if (length < 0) return host_fail(context, errno, "scandir", path.text);
  JSValue list = JS_NewArray(context);
  for (int i = 0; i < length; i++) {
    JS_SetPropertyUint32(context, list, 2 * (uint32_t)i, JS_NewString(context, entries[i]->d_name));
    JS_SetPropertyUint32(context, list, 2 * (uint32_t)i + 1, JS_NewInt32(context, entries[i]->d_type));
    free(entries[i]);
  }
  free(entries);
  return list;
}

/* In the order of the class Stats. */
static JSValue facts_value(JSContext *context, const struct stat *facts) {
  double changed = (double)facts->st_mtim.tv_sec * 1e3 + (double)facts->st_mtim.tv_nsec / 1e6;
  double numbers[] = {(double)facts->st_dev, (double)facts->st_ino,  facts->st_mode,
                      facts->st_uid,         (double)facts->st_size, changed};
  JSValue list = JS_NewArray(context);
  for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    JS_SetPropertyUint32(context, list, i, JS_NewNumber(context, numbers[i]));
  }
  return list;
}

/* (path, whether it is an error that nothing is there) */
HOST_FUNCTION(sys_stat) {
  struct host_path path;
  struct stat facts;
  if (!host_get_path(context, argument[0], &path)) return JS_EXCEPTION;
  if (stat(path.text, &facts) == 0) return facts_value(context, &facts);
  if (errno == ENOENT && !JS_ToBool(context, argument[1])) return JS_UNDEFINED;
  return host_fail(context, errno, "stat", path.text);
}

HOST_FUNCTION(sys_fstat) {
  struct stat facts;
  if (fstat(INT(0), &facts) == 0) return facts_value(context, &facts);
  return host_fail(context, errno, "fstat", NULL);
}

void host_register_files(JSContext *context, JSValueConst host) {
  static const JSCFunctionListEntry functions[] = {
      JS_CFUNC_DEF("open", 3, sys_open),         JS_CFUNC_DEF("access", 2, sys_access),
      JS_CFUNC_DEF("unlink", 1, sys_unlink),     JS_CFUNC_DEF("rmdir", 1, sys_rmdir),
      JS_CFUNC_DEF("mkdir", 2, sys_mkdir),       JS_CFUNC_DEF("chmod", 2, sys_chmod),
      JS_CFUNC_DEF("rename", 2, sys_rename),     JS_CFUNC_DEF("link", 2, sys_link),
      JS_CFUNC_DEF("fsync", 1, sys_fsync),       JS_CFUNC_DEF("ftruncate", 2, sys_ftruncate),
      JS_CFUNC_DEF("close", 1, sys_close),       JS_CFUNC_DEF("read", 5, sys_read),
      JS_CFUNC_DEF("write", 5, sys_write),       JS_CFUNC_DEF("readlink", 1, sys_readlink),
      JS_CFUNC_DEF("realpath", 1, sys_realpath), JS_CFUNC_DEF("readdir", 1, sys_readdir),
      JS_CFUNC_DEF("stat", 2, sys_stat),         JS_CFUNC_DEF("fstat", 1, sys_fstat),
  };
  JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
