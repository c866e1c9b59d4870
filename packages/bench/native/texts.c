/* Texts as netstrings, and lists of texts as netstrings of netstrings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

enum { MOST = 256 << 20 };

void buffer_append(struct buffer *buffer, const void *data, size_t size) {
  if (buffer->size + size > buffer->room) {
    buffer->room = (buffer->size + size) * 2;
    buffer->data = realloc(buffer->data, buffer->room);
    if (buffer->data == NULL) driver_fail("realloc");
  }
  if (size > 0) memcpy(buffer->data + buffer->size, data, size);
  buffer->size += size;
}

void buffer_free(struct buffer *buffer) {
  free(buffer->data);
  *buffer = (struct buffer){0};
}

static bool read_all(int fd, char *data, size_t size) {
  while (size > 0) {
    ssize_t done = read(fd, data, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    data += done;
    size -= (size_t)done;
  }
  return true;
}

static void malformed(void) {
  errno = EBADMSG;
  driver_fail("read a request");
}

bool texts_receive(int fd, struct buffer *into) {
  size_t size = 0;
  char digit;
  if (!read_all(fd, &digit, 1)) return false;
  while (digit != ':') {
    if (digit < '0' || digit > '9' || size > MOST) malformed();
    size = size * 10 + (size_t)(digit - '0');
    if (!read_all(fd, &digit, 1)) malformed();
  }
  buffer_free(into);
  into->data = malloc(size + 1);
  if (into->data == NULL) driver_fail("malloc");
  into->room = size + 1;
  into->size = size;
  if (!read_all(fd, into->data, size + 1) || into->data[size] != ',') malformed();
  return true;
}

bool texts_take(struct text *list, struct text *first) {
  if (list->size == 0) return false;
  const char *colon = memchr(list->data, ':', list->size);
  if (colon == NULL) malformed();
  size_t size = strtoull(list->data, NULL, 10);
  size_t head = (size_t)(colon - list->data) + 1;
  if (size > list->size || head + size + 1 > list->size || colon[1 + size] != ',') malformed();
  *first = (struct text){.data = colon + 1, .size = size};
  list->data += head + size + 1;
  list->size -= head + size + 1;
  return true;
}

struct text texts_need(struct text *list) {
  struct text first = {0};
  if (!texts_take(list, &first)) malformed();
  return first;
}

char *texts_copy(struct text text) {
  char *copy = strndup(text.data, text.size);
  if (copy == NULL) driver_fail("strndup");
  return copy;
}

int64_t texts_number(struct text text) {
  char digits[32] = {0};
  if (text.size >= sizeof digits) malformed();
  memcpy(digits, text.data, text.size);
  return strtoll(digits, NULL, 10);
}

void texts_put(struct buffer *into, const void *data, size_t size) {
  char head[32];
  int length = snprintf(head, sizeof head, "%zu:", size);
  buffer_append(into, head, (size_t)length);
  buffer_append(into, data, size);
  buffer_append(into, ",", 1);
}

void texts_put_words(struct buffer *into, const char *words) { texts_put(into, words, strlen(words)); }

void texts_put_number(struct buffer *into, int64_t number) {
  char digits[32];
  snprintf(digits, sizeof digits, "%lld", (long long)number);
  texts_put_words(into, digits);
}

void texts_send(int fd, const struct buffer *buffer) {
  struct buffer whole = {0};
  texts_put(&whole, buffer->data, buffer->size);
  for (size_t sent = 0; sent < whole.size;) {
    ssize_t done = write(fd, whole.data + sent, whole.size - sent);
    if (done < 0 && errno != EINTR) driver_fail("write an answer");
    if (done > 0) sent += (size_t)done;
  }
  buffer_free(&whole);
}
