/* Arguments read with every check, results copied, errors made by TypeScript's own class. */
#include "heddle.h"

#include <string.h>

struct hd_call hd_begin(napi_env env, napi_callback_info info) {
  struct hd_call call = {.env = env};
  size_t count = HD_ARGUMENTS; /* the rest is filled with undefined */
  if (napi_get_cb_info(env, info, &count, call.argument, NULL, NULL) != napi_ok) call.failed = true;
  return call;
}

static void refuse(struct hd_call *call, const char *why) {
  if (!call->failed) napi_throw_type_error(call->env, NULL, why);
  call->failed = true;
}

static double whole_number(struct hd_call *call, size_t index, double least, double most) {
  double value = 0;
  if (call->failed) return 0;
  /* NaN fails every comparison: it must never become descriptor 0. */
  if (napi_get_value_double(call->env, call->argument[index], &value) != napi_ok ||
      !(value >= least && value <= most) || value != (double)(int64_t)value) {
    refuse(call, "argument is not an integer in range");
    return 0;
  }
  return value;
}

int hd_int(struct hd_call *call, size_t index) { return (int)whole_number(call, index, INT_MIN, INT_MAX); }

uint32_t hd_uint(struct hd_call *call, size_t index) {
  return (uint32_t)whole_number(call, index, 0, UINT32_MAX);
}

struct hd_bytes hd_bytes(struct hd_call *call, size_t index) {
  struct hd_bytes bytes = {NULL, 0};
  napi_typedarray_type type;
  void *data = NULL;
  if (call->failed) return bytes;
  if (napi_get_typedarray_info(call->env, call->argument[index], &type, &bytes.size, &data, NULL, NULL) !=
          napi_ok ||
      type != napi_uint8_array) {
    refuse(call, "argument is not a Uint8Array");
    return (struct hd_bytes){NULL, 0};
  }
  bytes.data = bytes.size == 0 ? (const uint8_t *)"" : data;
  return bytes;
}

struct hd_path hd_path(struct hd_call *call, size_t index) {
  struct hd_path path = {.text = ""};
  size_t size = 0;
  if (call->failed) return path;
  if (napi_get_value_string_utf8(call->env, call->argument[index], NULL, 0, &size) != napi_ok) {
    refuse(call, "argument is not a string");
    return path;
  }
  napi_get_value_string_utf8(call->env, call->argument[index], path.text, sizeof path.text, NULL);
  if (size >= sizeof path.text) {
    hd_fail(call, ENAMETOOLONG, "path", path.text);
  } else if (strlen(path.text) != size) {
    hd_fail(call, EINVAL, "path with a zero byte", path.text);
  }
  return path;
}

napi_ref hd_function(struct hd_call *call, size_t index) {
  napi_valuetype type = napi_undefined;
  napi_ref reference = NULL;
  if (call->failed) return NULL;
  napi_typeof(call->env, call->argument[index], &type);
  if (type != napi_function ||
      napi_create_reference(call->env, call->argument[index], 1, &reference) != napi_ok) {
    refuse(call, "argument is not a function");
    return NULL;
  }
  return reference;
}

napi_value hd_number(napi_env env, double value) {
  napi_value result = NULL;
  napi_create_double(env, value, &result);
  return result;
}

napi_value hd_copy(napi_env env, const void *data, size_t size) {
  napi_value buffer = NULL, array = NULL;
  void *target = NULL;
  if (napi_create_arraybuffer(env, size, &target, &buffer) != napi_ok) return NULL;
  if (size > 0) memcpy(target, data, size);
  napi_create_typedarray(env, napi_uint8_array, size, buffer, 0, &array);
  return array;
}

napi_value hd_error(napi_env env, int errnum, const char *syscall, const char *path) {
  napi_value factory = NULL, receiver = NULL, error = NULL, arguments[3];
  struct hd_instance *instance = hd_instance(env);
  if (instance->error_factory == NULL) {
    napi_throw_error(env, NULL, "no error factory was set");
    return NULL;
  }
  napi_get_reference_value(env, instance->error_factory, &factory);
  napi_get_undefined(env, &receiver);
  napi_create_int32(env, errnum, &arguments[0]);
  napi_create_string_utf8(env, syscall, NAPI_AUTO_LENGTH, &arguments[1]);
  arguments[2] = receiver;
  if (path != NULL) napi_create_string_utf8(env, path, NAPI_AUTO_LENGTH, &arguments[2]);
  napi_call_function(env, receiver, factory, 3, arguments, &error);
  return error;
}

napi_value hd_fail(struct hd_call *call, int errnum, const char *syscall, const char *path) {
  napi_value error = hd_error(call->env, errnum, syscall, path);
  if (error != NULL) napi_throw(call->env, error);
  call->failed = true;
  return NULL;
}

struct hd_instance *hd_instance(napi_env env) {
  void *instance = NULL;
  napi_get_instance_data(env, &instance);
  return instance;
}

void hd_define(napi_env env, napi_value exports, const struct hd_export *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    napi_value function = NULL;
    napi_create_function(env, list[i].name, NAPI_AUTO_LENGTH, list[i].function, NULL, &function);
    napi_set_named_property(env, exports, list[i].name, function);
  }
}
