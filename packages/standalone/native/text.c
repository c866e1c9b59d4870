/* UTF-8, for src/host/text.ts and buffer.ts. */
#include "host.h"

#include <string.h>

static const uint8_t replacement[] = {0xef, 0xbf, 0xbd}; /* U+FFFD */

/*
 * One character, or as much as could have begun one: how many bytes it takes. `whole` tells which.
 * Source: the Encoding Standard, "UTF-8 decoder".
 */
static size_t step(const uint8_t *at, size_t left, bool *whole) {
  uint8_t lead = at[0], least = 0x80, most = 0xbf;
  size_t size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  *whole = size == 1;
  if (size < 2) return 1;
  if (lead == 0xe0) least = 0xa0;
  if (lead == 0xed) most = 0x9f;
  if (lead == 0xf0) least = 0x90;
  if (lead == 0xf4) most = 0x8f;
  for (size_t i = 1; i < size; i++) {
    if (i == left || at[i] < least || at[i] > most) return i;
    least = 0x80;
    most = 0xbf;
  }
  *whole = true;
  return size;
}

/* Text in place of bytes that are not all UTF-8. */
static JSValue decode_with_replacements(JSContext *context, const uint8_t *bytes, size_t size) {
  char *text = js_malloc(context, size * sizeof replacement);
  if (text == NULL) return JS_EXCEPTION;
  size_t length = 0, taken;
  for (size_t at = 0; at < size; at += taken) {
    bool whole;
    taken = step(bytes + at, size - at, &whole);
    size_t more = whole ? taken : sizeof replacement;
    memcpy(text + length, whole ? bytes + at : replacement, more);
    length += more;
  }
  JSValue value = JS_NewStringLen(context, text, length);
  js_free(context, text);
  return value;
}

HOST_FUNCTION(decode) {
  size_t size;
  uint8_t *bytes = JS_GetUint8Array(context, &size, argument[0]);
  if (bytes == NULL && JS_HasException(context)) return JS_EXCEPTION;
  if (size == 0) return JS_NewStringLen(context, "", 0);
  bool whole = true;
  for (size_t at = 0; at < size && whole;) at += step(bytes + at, size - at, &whole);
  if (!whole) return decode_with_replacements(context, bytes, size);
  return JS_NewStringLen(context, (const char *)bytes, size);
}

/* Half a pair of surrogates is three bytes here, and of no meaning in UTF-8. */
static void replace_surrogates(uint8_t *bytes, size_t size) {
  for (uint8_t *at = bytes; (at = memchr(at, 0xed, size - (size_t)(at - bytes))) != NULL; at++) {
    if ((size_t)(at - bytes) + 2 < size && at[1] >= 0xa0) memcpy(at, replacement, sizeof replacement);
  }
}

HOST_FUNCTION(encode) {
  size_t size;
  const char *text = JS_ToCStringLen(context, &size, argument[0]);
  if (text == NULL) return JS_EXCEPTION;
  JSValue bytes = JS_NewUint8ArrayCopy(context, (const uint8_t *)text, size);
  JS_FreeCString(context, text);
  if (!JS_IsException(bytes) && size > 0) replace_surrogates(JS_GetUint8Array(context, &size, bytes), size);
  return bytes;
}

void host_register_text(JSContext *context, JSValueConst host) {
  static const JSCFunctionListEntry functions[] = {
      JS_CFUNC_DEF("decode", 1, decode),
      JS_CFUNC_DEF("encode", 1, encode),
  };
  JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
