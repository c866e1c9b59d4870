/*
 * The event loop of Node.js waits for a descriptor itself: whoever waits is woken once, where a thread would be woken
 * first, only to wake the loop. Node.js exports libuv's functions, whose interface does not change, but its headers
 * are not at hand. Elsewhere the functions are missing, or, in Bun, end the process.
 */
#include "heddle.h"

#include <stdlib.h>

/* uv.h */
enum { UV_POLL = 8, UV_READABLE = 1 };
typedef struct uv_handle_s uv_handle_t;
#define LIBUV extern __attribute__((weak, visibility("default")))
LIBUV size_t uv_handle_size(int type);
LIBUV void uv_handle_set_data(uv_handle_t *handle, void *data);
LIBUV void *uv_handle_get_data(const uv_handle_t *handle);
LIBUV int uv_poll_init(struct uv_loop_s *loop, uv_handle_t *handle, int fd);
LIBUV int uv_poll_start(uv_handle_t *handle, int events, void (*ready)(uv_handle_t *handle, int status, int events));
LIBUV void uv_unref(uv_handle_t *handle);
LIBUV void uv_close(uv_handle_t *handle, void (*closed)(uv_handle_t *handle));

struct hd_loop {
  napi_env env;
  napi_async_context context;
  napi_async_cleanup_hook_handle hook;
  void (*ready)(napi_env env);
};

static bool is_libuv(napi_env env) {
  napi_value global = NULL;
  bool is_bun = false;
  return uv_poll_init != NULL && napi_get_global(env, &global) == napi_ok &&
         napi_has_named_property(env, global, "Bun", &is_bun) == napi_ok && !is_bun;
}

static void wake(uv_handle_t *handle, int status, int events) {
  (void)status;
  (void)events;
  struct hd_loop *loop = uv_handle_get_data(handle);
  loop->ready(loop->env);
}

static void drop(uv_handle_t *handle) {
  struct hd_loop *loop = uv_handle_get_data(handle);
  napi_remove_async_cleanup_hook(loop->hook);
  free(loop);
  free(handle);
}

/* The environment ends, and waits for this. Runs before the hooks that were added earlier: the descriptor is open. */
static void stop(napi_async_cleanup_hook_handle hook, void *handle) {
  (void)hook;
  uv_close(handle, drop);
}

struct hd_loop *hd_loop_watch(napi_env env, int fd, void (*ready)(napi_env env)) {
  struct uv_loop_s *uv = NULL;
  napi_value name = NULL;
  if (!is_libuv(env) || napi_get_uv_event_loop(env, &uv) != napi_ok) return NULL;
  struct hd_loop *loop = calloc(1, sizeof *loop);
  uv_handle_t *handle = calloc(1, uv_handle_size(UV_POLL));
  if (loop == NULL || handle == NULL || uv_poll_init(uv, handle, fd) != 0) {
    free(loop);
    free(handle);
    return NULL;
  }
  *loop = (struct hd_loop){.env = env, .ready = ready};
  uv_handle_set_data(handle, loop);
  napi_create_string_utf8(env, "heddle", NAPI_AUTO_LENGTH, &name);
  napi_async_init(env, NULL, name, &loop->context);
  napi_add_async_cleanup_hook(env, stop, handle, &loop->hook);
  uv_poll_start(handle, UV_READABLE, wake);
  uv_unref(handle);
  return loop;
}

void hd_loop_enter(struct hd_loop *loop, void (*function)(napi_env env, uint32_t argument), uint32_t argument) {
  napi_handle_scope handles = NULL;
  napi_callback_scope scope = NULL;
  napi_value resource = NULL;
  if (napi_open_handle_scope(loop->env, &handles) != napi_ok) return;
  napi_create_object(loop->env, &resource);
  if (napi_open_callback_scope(loop->env, resource, loop->context, &scope) == napi_ok) {
    function(loop->env, argument);
    napi_close_callback_scope(loop->env, scope);
  }
  napi_close_handle_scope(loop->env, handles);
}
