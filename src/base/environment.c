#include "base/environment.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[ENVIRONMENT_VARIABLES] = {
    [ENVIRONMENT_CACHE_DIR] = "WEIR_CACHE_DIR",
    [ENVIRONMENT_DUMP_TO] = "WEIR_DUMP_TO",
    [ENVIRONMENT_LLVM] = "WEIR_LLVM",
    [ENVIRONMENT_NUM_THREADS] = "WEIR_NUM_THREADS",
    [ENVIRONMENT_XDG_CACHE_HOME] = "XDG_CACHE_HOME",
    [ENVIRONMENT_HOME] = "HOME",
};

/* Every text that a variable has had: whoever got one may still read it. */
typedef struct copy {
  struct copy *next;
  char text[];
} copy;

static struct {
  pthread_once_t once;
  pthread_mutex_t lock; /* held while copies are made */
  copy *copies;
  _Atomic(const char *) values[ENVIRONMENT_VARIABLES];
} environment = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static const char *find_copy(const char *text) {
  for (const copy *c = environment.copies; c; c = c->next)
    if (!strcmp(c->text, text)) return c->text;
  return NULL;
}

/* NULL: out of memory. */
static const char *add_copy(const char *text) {
  size_t size = strlen(text) + 1;
  copy *c = malloc(sizeof *c + size);
  if (!c) return NULL;
  memcpy(c->text, text, size);
  c->next = environment.copies;
  environment.copies = c;
  return c->text;
}

static void read_variable(environment_variable v) {
  const char *text = getenv(names[v]), *found = text ? find_copy(text) : NULL;
  if (text && !found) found = add_copy(text);
  if (found || !text) atomic_store(&environment.values[v], found);
}

void environment_read(void) {
  pthread_mutex_lock(&environment.lock);
  for (int v = 0; v < ENVIRONMENT_VARIABLES; v++) read_variable((environment_variable)v);
  pthread_mutex_unlock(&environment.lock);
}

const char *environment_get(environment_variable v) {
  assert(v >= 0 && v < ENVIRONMENT_VARIABLES);
  pthread_once(&environment.once, environment_read);
  return atomic_load(&environment.values[v]);
}
