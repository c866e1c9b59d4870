/* What functions for JavaScript take and throw. */
#include "host.h"

#include <string.h>

JSValue host_fail(JSContext *context, int errnum, const char *syscall, const char *path) {
  JSValue make = JS_GetPropertyStr(context, host_image.host, "makeError");
  JSValue arguments[] = {JS_NewInt32(context, errnum), JS_NewString(context, syscall),
                         path == NULL ? JS_UNDEFINED : JS_NewString(context, path)};
  JSValue error = JS_Call(context, make, JS_UNDEFINED, 3, arguments);
  for (int i = 0; i < 3; i++) JS_FreeValue(context, arguments[i]);
  JS_FreeValue(context, make);
  return JS_IsException(error) ? error : JS_Throw(context, error);
}

bool host_get_path(JSContext *context, JSValueConst value, struct host_path *path) {
  size_t size;
  const char *text = JS_ToCStringLen(context, &size, value);
  if (text == NULL) return false;
  int errnum = strlen(text) != size ? EINVAL : size >= sizeof path->text ? ENAMETOOLONG : 0;
  if (errnum == 0) {
    memcpy(path->text, text, size + 1);
  } else {
    host_fail(context, errnum, "path", text);
  }
  JS_FreeCString(context, text);
  return errnum == 0;
}

int host_get_int(JSContext *context, JSValueConst value) {
  int32_t number = -1;
  JS_ToInt32(context, &number, value);
  return number;
}
