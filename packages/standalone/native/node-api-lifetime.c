/* Node-API over QuickJS: what outlives a call of the addon, and what comes from other threads. */
#include "env.h"

#include <pthread.h>
#include <sys/eventfd.h>

struct napi_ref__ {
  JSValue value;
};

struct message {
  struct message *next;
  void *data;
};

struct napi_threadsafe_function__ {
  napi_threadsafe_function next;
  napi_env env;
  napi_threadsafe_function_call_js call;
  void *context;
  bool held;
  pthread_mutex_t lock; /* guards the queue */
  struct message *head, **tail;
};

napi_status napi_create_reference(napi_env env, napi_value value, uint32_t count, napi_ref *result) {
  (void)count; /* the addon's references are all strong */
  *result = env_allocate(sizeof **result);
  (*result)->value = JS_DupValue(env->context, env_value(value));
  return napi_ok;
}

napi_status napi_delete_reference(napi_env env, napi_ref reference) {
  JS_FreeValue(env->context, reference->value);
  host_free(reference);
  return napi_ok;
}

napi_status napi_get_reference_value(napi_env env, napi_ref reference, napi_value *result) {
  *result = env_handle(env, JS_DupValue(env->context, reference->value));
  return napi_ok;
}

/* The environment ends with the process, so nobody is told of its end. */
napi_status napi_set_instance_data(napi_env env, void *data, napi_finalize finalize, void *hint) {
  (void)finalize;
  (void)hint;
  env->instance = data;
  return napi_ok;
}

napi_status napi_get_instance_data(napi_env env, void **data) {
  *data = env->instance;
  return napi_ok;
}

napi_status napi_add_env_cleanup_hook(napi_env env, void (*hook)(void *), void *argument) {
  (void)env;
  (void)hook;
  (void)argument;
  return napi_ok;
}

/* --- from other threads ----------------------------------------------------------------------------------- */

napi_status napi_create_threadsafe_function(napi_env env, napi_value function, napi_value resource, napi_value name,
                                            size_t most, size_t threads, void *finalize_data, napi_finalize finalize,
                                            void *context, napi_threadsafe_function_call_js call,
                                            napi_threadsafe_function *result) {
  (void)function, (void)resource, (void)name, (void)most, (void)threads, (void)finalize_data, (void)finalize;
  if (env->wake == -1) env->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (env->wake == -1) return napi_generic_failure;
  napi_threadsafe_function made = env_allocate(sizeof *made);
  *made = (struct napi_threadsafe_function__){
      .next = env->functions, .env = env, .call = call, .context = context, .held = true};
  made->tail = &made->head;
  pthread_mutex_init(&made->lock, NULL);
  env->functions = *result = made;
  return napi_ok;
}

/* From any thread. */
napi_status napi_call_threadsafe_function(napi_threadsafe_function function, void *data,
                                          napi_threadsafe_function_call_mode mode) {
  (void)mode;
  struct message *message = host_calloc(1, sizeof *message);
  if (message == NULL) return napi_generic_failure;
  message->data = data;
  pthread_mutex_lock(&function->lock);
  *function->tail = message;
  function->tail = &message->next;
  pthread_mutex_unlock(&function->lock);
  eventfd_write(function->env->wake, 1);
  return napi_ok;
}

napi_status napi_ref_threadsafe_function(napi_env env, napi_threadsafe_function function) {
  (void)env;
  function->held = true;
  return napi_ok;
}

napi_status napi_unref_threadsafe_function(napi_env env, napi_threadsafe_function function) {
  (void)env;
  function->held = false;
  return napi_ok;
}

static struct message *take(napi_threadsafe_function function) {
  pthread_mutex_lock(&function->lock);
  struct message *message = function->head;
  if (message != NULL && (function->head = message->next) == NULL) function->tail = &function->head;
  pthread_mutex_unlock(&function->lock);
  return message;
}

void host_deliver(napi_env env) {
  eventfd_t count;
  if (env->wake != -1) eventfd_read(env->wake, &count);
  for (napi_threadsafe_function function = env->functions; function != NULL; function = function->next) {
    for (struct message *message; (message = take(function)) != NULL;) {
      struct env_mark mark = env->top;
      function->call(env, NULL, function->context, message->data);
      host_free(message);
      env_drop_handles(env, mark);
      /* What a message sets off is done before the next one, as in Node.js. */
      host_run_jobs(env->context);
    }
  }
}

bool host_is_held(napi_env env) {
  for (napi_threadsafe_function function = env->functions; function != NULL; function = function->next) {
    if (function->held) return true;
  }
  return false;
}

int host_wake_fd(napi_env env) { return env->wake; }
