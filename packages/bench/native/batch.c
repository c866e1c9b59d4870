/* A batch: attachments, each a chain of calls one after the other, so many of them at a time. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

/*
 * A job in the request: NETNS INTERFACE STEPS PROBES, of which the last two are lists. NETNS is empty for a call that
 * is about no pod. A step: PROGRAM BEFORE AFTER JOINED ENVIRONMENT…; when JOINED is "1", the input is BEFORE, what the
 * step before it has printed, and AFTER. A probe is an address.
 */
struct job {
  struct text request;
  struct buffer answer;
};

struct batch {
  struct job *jobs;
  size_t count;
  atomic_size_t next;
  int64_t began, patience, probe_patience;
  bool stops; /* at the first step that fails */
};

static char **environment_of(struct text list) {
  size_t count = 0;
  struct text rest = list, entry;
  while (texts_take(&rest, &entry)) count++;
  char **environment = calloc(count + 1, sizeof *environment);
  if (environment == NULL) driver_fail("calloc");
  for (size_t i = 0; i < count; i++) environment[i] = texts_copy(texts_need(&list));
  return environment;
}

static void free_list(char **list) {
  for (char **entry = list; *entry != NULL; entry++) free(*entry);
  free(list);
}

static void run_step(struct text step, const struct buffer *printed, int64_t patience, struct outcome *outcome) {
  char *program = texts_copy(texts_need(&step));
  struct text before = texts_need(&step), after = texts_need(&step), joined = texts_need(&step);
  struct buffer input = {0};
  buffer_append(&input, before.data, before.size);
  if (joined.size == 1 && joined.data[0] == '1') {
    buffer_append(&input, printed->data, printed->size);
    buffer_append(&input, after.data, after.size);
  }
  char **environment = environment_of(step);
  struct call call = {
      .program = program, .environment = environment, .input = input.data, .input_size = input.size, .patience = patience};
  call_run(&call, outcome);
  free_list(environment);
  buffer_free(&input);
  free(program);
}

static void put_outcome(struct buffer *answer, const struct outcome *outcome, int64_t began) {
  static const char *const endings[] = {
      [EXITED] = "exited", [SIGNALLED] = "signalled", [LATE] = "late", [UNSTARTED] = "unstarted"};
  struct buffer one = {0};
  texts_put_words(&one, endings[outcome->ending]);
  texts_put_number(&one, outcome->code);
  texts_put_number(&one, outcome->began - began);
  texts_put_number(&one, outcome->took);
  texts_put(&one, outcome->output.data, outcome->output.size);
  texts_put(&one, outcome->errors.data, outcome->errors.size);
  texts_put(answer, one.data, one.size);
  buffer_free(&one);
}

/* Returns the time when the last step had ended, or zero when one has failed. */
static int64_t run_steps(const struct batch *batch, struct text steps, struct buffer *answer) {
  struct text step;
  struct buffer printed = {0}, outcomes = {0};
  int64_t ended = 0;
  bool well = true;
  while ((well || !batch->stops) && texts_take(&steps, &step)) {
    struct outcome outcome;
    run_step(step, &printed, batch->patience, &outcome);
    put_outcome(&outcomes, &outcome, batch->began);
    well = well && outcome.ending == EXITED && outcome.code == 0;
    ended = outcome.began + outcome.took;
    buffer_free(&printed);
    printed = outcome.output;
    outcome.output = (struct buffer){0};
    outcome_free(&outcome);
  }
  texts_put(answer, outcomes.data, outcomes.size);
  buffer_free(&outcomes);
  buffer_free(&printed);
  return well ? ended : 0;
}

static void run_job(const struct batch *batch, struct job *job, int listener) {
  struct text request = job->request;
  char *netns = texts_copy(texts_need(&request)), *interface = texts_copy(texts_need(&request));
  struct text steps = texts_need(&request), probes = texts_need(&request), probe;
  struct buffer arrivals = {0};
  int64_t ended = run_steps(batch, steps, &job->answer);
  while (texts_take(&probes, &probe)) {
    char *address = texts_copy(probe);
    int64_t arrived = 0;
    /* After a chain that has failed there is nothing to be asked. */
    int error = ended == 0 ? ECANCELED : probe_send(netns, address, listener, batch->probe_patience, &arrived);
    texts_put_number(&arrivals, error);
    texts_put_number(&arrivals, error == 0 ? arrived - ended : 0);
    free(address);
  }
  texts_put(&job->answer, arrivals.data, arrivals.size);
  texts_put_number(&job->answer, *netns == '\0' ? -1 : probe_interface(netns, interface));
  buffer_free(&arrivals);
  free(netns);
  free(interface);
}

static void *work(void *argument) {
  struct batch *batch = argument;
  int listener = probe_listener();
  for (size_t i; (i = atomic_fetch_add(&batch->next, 1)) < batch->count;) run_job(batch, &batch->jobs[i], listener);
  close(listener);
  return NULL;
}

/* The request: WORKERS PATIENCE PROBE-PATIENCE STOPS JOB…, times in milliseconds. */
void batch_run(struct text request, struct buffer *answer) {
  size_t workers = (size_t)texts_number(texts_need(&request));
  struct batch batch = {.patience = texts_number(texts_need(&request)) * 1000000,
                        .probe_patience = texts_number(texts_need(&request)) * 1000000,
                        .stops = texts_number(texts_need(&request)) != 0};
  struct text rest = request, job;
  while (texts_take(&rest, &job)) batch.count++;
  batch.jobs = calloc(batch.count + 1, sizeof *batch.jobs);
  pthread_t *threads = calloc(workers + 1, sizeof *threads);
  if (batch.jobs == NULL || threads == NULL) driver_fail("calloc");
  for (size_t i = 0; i < batch.count; i++) batch.jobs[i].request = texts_need(&request);
  batch.began = driver_now();
  for (size_t i = 0; i < workers; i++) {
    errno = pthread_create(&threads[i], NULL, work, &batch);
    if (errno != 0) driver_fail("start a thread");
  }
  for (size_t i = 0; i < workers; i++) pthread_join(threads[i], NULL);
  texts_put_number(answer, driver_now() - batch.began);
  for (size_t i = 0; i < batch.count; i++) {
    texts_put(answer, batch.jobs[i].answer.data, batch.jobs[i].answer.size);
    buffer_free(&batch.jobs[i].answer);
  }
  free(batch.jobs);
  free(threads);
}
