/* A kernel's items, on the caller and on helpers that come early, late or not at all; from several
 * callers at once. Meant for ThreadSanitizer too (make tsan). */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "call/interrupt.h"
#include "call/progress.h"
#include "kernel/run.h"
#include "weir/weir.h"

enum { ITEMS = 300, THREADS = 4, SLOT = 64, CALLERS = 3, ROUNDS = 20 };

/* ---- a pool ---- */
typedef struct task {
  void (*run)(void *data);
  void *data;
  int64_t delay_microseconds;
} task;

typedef struct pool {
  int32_t asked, refuse_from; /* the first one that nobody takes */
  int64_t delay_microseconds;
  pthread_t threads[THREADS];
  task tasks[THREADS];
  int32_t started;
} pool;

static void *begin(void *user) {
  const task *t = user;
  struct timespec delay = {.tv_nsec = 1000 * t->delay_microseconds};
  nanosleep(&delay, NULL);
  t->run(t->data);
  return NULL;
}

static bool schedule(void *user, void (*run)(void *data), void *data) {
  pool *p = user;
  if (p->asked++ >= p->refuse_from) return false;
  task *t = &p->tasks[p->started];
  *t = (task){run, data, p->delay_microseconds * p->started};
  assert(!pthread_create(&p->threads[p->started++], NULL, begin, t));
  return true;
}

static void drain(pool *p) {
  for (int32_t i = 0; i < p->started; i++) pthread_join(p->threads[i], NULL);
}

/* ---- a kernel ---- */
/* buffers[0]: how often each item was run. A thread's scratch is its own: what is written there is
 * read back unchanged. */
static void kernel(void *const *buffers, void *const *functions, void *scratch, void *shared,
                   int64_t item) {
  int32_t *count = buffers[0];
  volatile int64_t *own = scratch;
  (void)functions;
  for (int i = 0; i < 50; i++) {
    *own = item;
    assert(*own == item);
  }
  count[item]++;
  __atomic_fetch_add((int64_t *)shared, item, __ATOMIC_RELAXED);
}

static void finish(void *const *buffers, void *const *functions, void *scratch, void *shared,
                   int64_t item) {
  int64_t *sum = buffers[1];
  (void)functions, (void)scratch;
  *sum += *(int64_t *)shared * (item + 1);
}

typedef struct call {
  int32_t counts[ITEMS], progress;
  int64_t sum, shared, stop_at; /* stop_at: the item before which it is enough; -1: none */
  char scratch[THREADS * SLOT] __attribute__((aligned(64)));
} call;

static bool goes_on(void *user, int64_t item) {
  const call *c = user;
  progress_at(c->progress, item);
  return c->stop_at < 0 || item < c->stop_at;
}

static bool run(call *c, int64_t items, int64_t stop_at, int32_t threads, pool *p) {
  void *buffers[2] = {c->counts, &c->sum};
  *c = (call){.stop_at = stop_at};
  c->progress = progress_begin("f", 1, (int64_t)(intptr_t)c, items);
  kernel_work w = {.kernel = kernel,
                   .buffers = buffers,
                   .scratch = c->scratch,
                   .shared = (char *)&c->shared,
                   .scratch_bytes = SLOT,
                   .items = items,
                   .finish = finish,
                   .finishing = 2,
                   .goes_on = goes_on,
                   .user = c};
  bool done = kernel_run(&w, threads, p ? schedule : NULL, p);
  progress_end(c->progress);
  return done;
}

static void check_whole(const call *c, int64_t items) {
  for (int64_t i = 0; i < ITEMS; i++) assert(c->counts[i] == (i < items));
  assert(c->shared == items * (items - 1) / 2 && c->sum == 3 * c->shared);
}

/* ---- tests ---- */
static void test_all_items(int64_t items, int32_t threads, int32_t helpers, int64_t delay) {
  static call c; /* late helpers may look at it when the call is over */
  pool p = {.refuse_from = helpers, .delay_microseconds = delay};
  assert(run(&c, items, -1, threads, &p));
  check_whole(&c, items);
  drain(&p);
  check_whole(&c, items); /* who came late did nothing */
}

static void test_stops(int32_t threads) {
  static call c;
  pool p = {.refuse_from = THREADS};
  assert(!run(&c, ITEMS, 100, threads, &p));
  drain(&p);
  for (int64_t i = 0; i < ITEMS; i++) assert(c.counts[i] == (i < 100));
  assert(!c.sum); /* nothing finished */
}

static void *many_calls(void *user) {
  call *c = user;
  for (int i = 0; i < ROUNDS; i++) {
    pool p = {.refuse_from = i % THREADS, .delay_microseconds = i % 3 * 50};
    uint32_t watch = interrupt_watch();
    assert(run(c, ITEMS, -1, THREADS, &p));
    check_whole(c, ITEMS);
    assert(!interrupt_came(watch));
    drain(&p);
  }
  return NULL;
}

static void test_callers_at_once(void) {
  static call calls[CALLERS];
  pthread_t threads[CALLERS];
  weir_show_progress(true);
  weir_interrupts(true);
  for (int i = 0; i < CALLERS; i++)
    assert(!pthread_create(&threads[i], NULL, many_calls, &calls[i]));
  for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
  weir_interrupts(false);
  weir_show_progress(false);
}

int main(void) {
  static call alone;
  assert(run(&alone, ITEMS, -1, 1, NULL));
  check_whole(&alone, ITEMS);
  for (int32_t helpers = 0; helpers < THREADS; helpers++) {
    test_all_items(ITEMS, THREADS, helpers, 0);
    test_all_items(ITEMS, THREADS, helpers, 2000);
    test_all_items(1, THREADS, helpers, 0);
    test_all_items(0, THREADS, helpers, 0);
  }
  test_stops(1);
  test_stops(THREADS);
  test_callers_at_once();
  return 0;
}
