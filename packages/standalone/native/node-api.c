/*
 * Node-API over QuickJS: the functions that the addon uses, and no others. A napi_value points to a slot of the
 * environment's stack of handles; the slots of a call are freed when the call returns.
 */
#include "env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct napi_callback_info__ {
  int count;
  JSValueConst *arguments;
  JSValueConst receiver;
};

/* What the addon registers itself with. */
napi_value napi_register_module_v1(napi_env env, napi_value exports);

static _Noreturn void out_of_memory(void) {
  fputs("heddle: out of memory\n", stderr);
  abort();
}

void *env_allocate(size_t size) {
  void *memory = host_calloc(1, size);
  if (memory == NULL) out_of_memory();
  return memory;
}

napi_env host_env(JSContext *context) {
  napi_env env = env_allocate(sizeof *env);
  env->context = context;
  env->top.block = &env->first;
  env->wake = -1;
  return env;
}

/* --- handles ---------------------------------------------------------------------------------------------- */

/* Takes the value over. */
napi_value env_handle(napi_env env, JSValue value) {
  if (env->top.used == ENV_BLOCK) {
    struct env_block *block = env->top.block;
    if (block->next == NULL) block->next = env_allocate(sizeof *block);
    env->top = (struct env_mark){block->next, 0};
  }
  JSValue *slot = &env->top.block->slot[env->top.used++];
  *slot = value;
  return (napi_value)slot;
}

void env_drop_handles(napi_env env, struct env_mark until) {
  struct env_block *block = until.block;
  for (unsigned i = until.used;; i = 0, block = block->next) {
    unsigned end = block == env->top.block ? env->top.used : ENV_BLOCK;
    for (; i < end; i++) JS_FreeValue(env->context, block->slot[i]);
    if (block == env->top.block) break;
  }
  env->top = until;
}

/* Gives a new value out as a handle; an exception stays pending. */
static napi_status give(napi_env env, JSValue value, napi_value *result) {
  if (JS_IsException(value)) return napi_pending_exception;
  *result = env_handle(env, value);
  return napi_ok;
}

/* --- functions -------------------------------------------------------------------------------------------- */

static JSValue call_native(JSContext *context, JSValueConst receiver, int count, JSValueConst *arguments, int magic,
                           void *opaque) {
  (void)magic;
  napi_env env = JS_GetContextOpaque(context);
  struct env_mark mark = env->top;
  struct napi_callback_info__ info = {count, arguments, receiver};
  napi_value result = ((napi_callback)opaque)(env, &info);
  JSValue value = result == NULL ? JS_UNDEFINED : JS_DupValue(context, env_value(result));
  env_drop_handles(env, mark);
  if (!JS_HasException(context)) return value;
  JS_FreeValue(context, value);
  return JS_EXCEPTION;
}

static JSValue host_function(napi_env env, const char *name, napi_callback function) {
  return JS_NewCClosure(env->context, call_native, name, NULL, 0, 0, (void *)function);
}

JSValue host_addon(napi_env env) {
  struct env_mark mark = env->top;
  JSValue exports = JS_NewObject(env->context);
  napi_value slot = env_handle(env, JS_DupValue(env->context, exports));
  napi_register_module_v1(env, slot);
  env_drop_handles(env, mark);
  if (!JS_HasException(env->context)) return exports;
  JS_FreeValue(env->context, exports);
  return JS_EXCEPTION;
}

napi_status napi_create_function(napi_env env, const char *name, size_t length, napi_callback function, void *data,
                                 napi_value *result) {
  (void)length;
  (void)data;
  return give(env, host_function(env, name, function), result);
}

napi_status napi_get_cb_info(napi_env env, napi_callback_info info, size_t *count, napi_value *arguments,
                             napi_value *receiver, void **data) {
  (void)receiver;
  (void)data;
  for (size_t i = 0; i < *count; i++) {
    bool given = i < (size_t)info->count;
    arguments[i] = env_handle(env, given ? JS_DupValue(env->context, info->arguments[i]) : JS_UNDEFINED);
  }
  *count = (size_t)info->count;
  return napi_ok;
}

napi_status napi_call_function(napi_env env, napi_value receiver, napi_value function, size_t count,
                               const napi_value *arguments, napi_value *result) {
  JSValue values[8];
  if (count > sizeof values / sizeof *values) return napi_invalid_arg;
  if (!JS_IsFunction(env->context, env_value(function))) return napi_function_expected;
  for (size_t i = 0; i < count; i++) values[i] = env_value(arguments[i]);
  JSValue value = JS_Call(env->context, env_value(function), env_value(receiver), (int)count, values);
  if (result != NULL) return give(env, value, result);
  JS_FreeValue(env->context, value);
  return JS_IsException(value) ? napi_pending_exception : napi_ok;
}

/* --- values ----------------------------------------------------------------------------------------------- */

napi_status napi_get_undefined(napi_env env, napi_value *result) { return give(env, JS_UNDEFINED, result); }

napi_status napi_get_boolean(napi_env env, bool value, napi_value *result) {
  return give(env, JS_NewBool(env->context, value), result);
}

napi_status napi_create_double(napi_env env, double value, napi_value *result) {
  return give(env, JS_NewNumber(env->context, value), result);
}

napi_status napi_create_int32(napi_env env, int32_t value, napi_value *result) {
  return give(env, JS_NewInt32(env->context, value), result);
}

napi_status napi_create_bigint_uint64(napi_env env, uint64_t value, napi_value *result) {
  return give(env, JS_NewBigUint64(env->context, value), result);
}

napi_status napi_create_string_utf8(napi_env env, const char *text, size_t length, napi_value *result) {
  size_t size = length == NAPI_AUTO_LENGTH ? strlen(text) : length;
  return give(env, JS_NewStringLen(env->context, size == 0 ? "" : text, size), result);
}

napi_status napi_create_array(napi_env env, napi_value *result) {
  return give(env, JS_NewArray(env->context), result);
}

napi_status napi_create_array_with_length(napi_env env, size_t length, napi_value *result) {
  (void)length; /* it grows with its elements, which the addon sets in order */
  return napi_create_array(env, result);
}

napi_status napi_set_element(napi_env env, napi_value object, uint32_t index, napi_value value) {
  JSValue taken = JS_DupValue(env->context, env_value(value));
  return JS_SetPropertyUint32(env->context, env_value(object), index, taken) < 0 ? napi_pending_exception : napi_ok;
}

napi_status napi_set_named_property(napi_env env, napi_value object, const char *name, napi_value value) {
  JSValue taken = JS_DupValue(env->context, env_value(value));
  return JS_SetPropertyStr(env->context, env_value(object), name, taken) < 0 ? napi_pending_exception : napi_ok;
}

static void *resize_bytes(JSRuntime *runtime, void *opaque, void *bytes, size_t size) {
  (void)opaque;
  if (size > 0) return js_realloc_rt(runtime, bytes, size);
  js_free_rt(runtime, bytes);
  return NULL;
}

napi_status napi_create_arraybuffer(napi_env env, size_t size, void **data, napi_value *result) {
  uint8_t *bytes = js_mallocz(env->context, size == 0 ? 1 : size);
  if (bytes == NULL) return napi_pending_exception;
  *data = bytes;
  return give(env, JS_NewArrayBuffer(env->context, bytes, size, 0, resize_bytes, NULL, false), result);
}

napi_status napi_create_typedarray(napi_env env, napi_typedarray_type type, size_t length, napi_value buffer,
                                   size_t offset, napi_value *result) {
  if (type != napi_uint8_array) return napi_invalid_arg;
  JSValue arguments[] = {env_value(buffer), JS_NewInt64(env->context, (int64_t)offset),
                         JS_NewInt64(env->context, (int64_t)length)};
  return give(env, JS_NewTypedArray(env->context, 3, arguments, JS_TYPED_ARRAY_UINT8), result);
}

napi_status napi_typeof(napi_env env, napi_value value, napi_valuetype *result) {
  *result = JS_IsFunction(env->context, env_value(value)) ? napi_function : napi_object;
  return napi_ok;
}

napi_status napi_get_value_double(napi_env env, napi_value value, double *result) {
  if (!JS_IsNumber(env_value(value))) return napi_number_expected;
  JS_ToFloat64(env->context, result, env_value(value));
  return napi_ok;
}

napi_status napi_get_value_bool(napi_env env, napi_value value, bool *result) {
  if (!JS_IsBool(env_value(value))) return napi_boolean_expected;
  *result = JS_ToBool(env->context, env_value(value)) != 0;
  return napi_ok;
}

/* Without a buffer: the text's size. With one: as much as fits, ended by a zero byte. */
napi_status napi_get_value_string_utf8(napi_env env, napi_value value, char *buffer, size_t room, size_t *result) {
  if (!JS_IsString(env_value(value))) return napi_string_expected;
  size_t size = 0;
  const char *text = JS_ToCStringLen(env->context, &size, env_value(value));
  if (text == NULL) return napi_pending_exception;
  if (buffer != NULL && room > 0) {
    size = size < room ? size : room - 1;
    memcpy(buffer, text, size);
    buffer[size] = '\0';
  }
  if (result != NULL) *result = size;
  JS_FreeCString(env->context, text);
  return napi_ok;
}

napi_status napi_get_typedarray_info(napi_env env, napi_value value, napi_typedarray_type *type, size_t *length,
                                     void **data, napi_value *buffer, size_t *offset) {
  (void)buffer;
  (void)offset;
  if (JS_GetTypedArrayType(env_value(value)) != JS_TYPED_ARRAY_UINT8) return napi_invalid_arg;
  *type = napi_uint8_array;
  *data = JS_GetUint8Array(env->context, length, env_value(value));
  return *data == NULL && *length > 0 ? napi_pending_exception : napi_ok;
}

/* --- errors ----------------------------------------------------------------------------------------------- */

napi_status napi_throw(napi_env env, napi_value error) {
  JS_Throw(env->context, JS_DupValue(env->context, env_value(error)));
  return napi_ok;
}

napi_status napi_throw_error(napi_env env, const char *code, const char *message) {
  (void)code;
  JS_ThrowPlainError(env->context, "%s", message);
  return napi_ok;
}

napi_status napi_throw_type_error(napi_env env, const char *code, const char *message) {
  (void)code;
  JS_ThrowTypeError(env->context, "%s", message);
  return napi_ok;
}

napi_status napi_is_exception_pending(napi_env env, bool *result) {
  *result = JS_HasException(env->context);
  return napi_ok;
}

napi_status napi_get_and_clear_last_exception(napi_env env, napi_value *result) {
  *result = env_handle(env, JS_GetException(env->context));
  return napi_ok;
}

napi_status napi_fatal_exception(napi_env env, napi_value error) { host_uncaught(env->context, env_value(error)); }
