/* Putting texts together. */
#ifndef HEDDLE_TEXT_H
#define HEDDLE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* One text after the other, up to NULL. False when there is no room for all. */
static bool join(char *into, size_t room, ...) {
  va_list texts;
  va_start(texts, room);
  const char *text;
  while ((text = va_arg(texts, const char *)) != NULL && strlen(text) < room) {
    room -= strlen(text);
    into = stpcpy(into, text);
  }
  va_end(texts);
  return text == NULL;
}

/* The digits of a number, and NUL. */
static void hexadecimal(char text[17], uint64_t number) {
  for (int i = 0; i < 16; i++) text[i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
  text[16] = '\0';
}

#endif
