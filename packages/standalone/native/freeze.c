/* Makes the image, and the program that has it. */
#include "frozen.h"
#include "host.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The largest page of the machines that the program is for. */
enum { PAGE = 64 * 1024 };

static _Noreturn void fail(const char *file) {
  perror(file);
  exit(1);
}

/* With so much room after it. */
static uint8_t *read_file(const char *name, size_t *size, size_t room) {
  FILE *file = fopen(name, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) < 0) fail(name);
  *size = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = calloc(1, *size + room);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) fail(name);
  fclose(file);
  return bytes;
}

/* The bytecode of a script, compiled by an engine of its own, so that nothing of that is left in the image. */
static uint8_t *compile(const char *name, size_t *size) {
  size_t length;
  char *source = (char *)read_file(name, &length, 1);
  JSContext *context = JS_NewContext(JS_NewRuntime());
  JSValue script = JS_Eval(context, source, length, name, JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY);
  if (JS_IsException(script)) host_uncaught(context, JS_GetException(context));
  uint8_t *code = JS_WriteObject(context, size, script, JS_WRITE_OBJ_BYTECODE | JS_WRITE_OBJ_STRIP_SOURCE);
  if (code == NULL) host_uncaught(context, JS_GetException(context));
  free(source);
  return code;
}

static void load_modules(const char *script) {
  size_t size;
  uint8_t *code = compile(script, &size);
  JSContext *context = host_start_engine();
  host_image.env = host_env(context);
  JS_SetContextOpaque(context, host_image.env);
  JSValue global = JS_GetGlobalObject(context);
  host_image.host = JS_NewObject(context);
  host_register_files(context, host_image.host);
  host_register_text(context, host_image.host);
  host_register_process(context, host_image.host);
  host_register_children(context, host_image.host);
  JS_SetPropertyStr(context, global, "host", JS_DupValue(context, host_image.host));
  JS_FreeValue(context, global);
  JSValue result = JS_EvalFunction(context, JS_ReadObject(context, code, size, JS_READ_OBJ_BYTECODE));
  if (JS_IsException(result)) host_uncaught(context, JS_GetException(context));
  host_run_jobs(context);
  JS_RunGC(JS_GetRuntime(context));
  js_leave_arenas(JS_GetRuntime(context));
  host_image.context = context;
}

/* The segment of the image has no bytes in the file yet: they go to its end. */
static void place_image(uint8_t *file, size_t offset, size_t size) {
  ElfW(Ehdr) *header = (ElfW(Ehdr) *)file;
  ElfW(Phdr) *segment = (ElfW(Phdr) *)(file + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++) {
    if (segment[i].p_type != PT_LOAD || segment[i].p_vaddr != (uintptr_t)&host_image) continue;
    segment[i].p_offset = offset;
    segment[i].p_filesz = size;
    return;
  }
  fputs("the program has no segment for the image alone\n", stderr);
  exit(1);
}

void host_freeze(const char *script, const char *program) {
  load_modules(script);
  size_t used = offsetof(struct host_image, memory) + host_image.used, size;
  uint8_t *file = read_file("/proc/self/exe", &size, used + PAGE);
  size_t offset = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
  memcpy(file + offset, &host_image, used);
  place_image(file, offset, used);
  FILE *out = fopen(program, "wb");
  if (out == NULL || fwrite(file, 1, offset + used, out) != offset + used || fclose(out) != 0) fail(program);
  if (chmod(program, 0755) < 0) fail(program);
}
