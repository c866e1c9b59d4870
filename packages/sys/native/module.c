/* Registration: what an environment sees when it loads the addon. */
#include "heddle.h"

#include <stdlib.h>

static void drop_instance(napi_env env, void *data, void *hint) {
  (void)env;
  (void)hint;
  struct hd_instance *instance = data;
  free(instance->answer.data);
  free(instance->answer.end);
  free(instance);
}

/* setErrorFactory((errnum, syscall, path) => Error): must be called first. */
static napi_value set_error_factory(napi_env env, napi_callback_info info) {
  struct hd_call call = hd_begin(env, info);
  napi_ref factory = hd_function(&call, 0);
  if (call.failed) return NULL;
  struct hd_instance *instance = hd_instance(env);
  if (instance->error_factory != NULL) napi_delete_reference(env, instance->error_factory);
  instance->error_factory = factory;
  return NULL;
}

NAPI_MODULE_INIT() {
  struct hd_instance *instance = calloc(1, sizeof *instance);
  if (instance == NULL || napi_set_instance_data(env, instance, drop_instance, NULL) != napi_ok) {
    free(instance);
    napi_throw_error(env, NULL, "out of memory");
    return NULL;
  }
  static const struct hd_export list[] = {{"setErrorFactory", set_error_factory}};
  hd_define(env, exports, list, sizeof list / sizeof *list);
  hd_register_aside(env, exports);
  hd_register_digest(env, exports);
  hd_register_files(env, exports);
  hd_register_locks(env, exports);
  hd_register_namespaces(env, exports);
  hd_register_netns(env, exports);
  hd_register_sockets(env, exports);
  hd_register_transact(env, exports);
  hd_register_watch(env, exports);
  return exports;
}
