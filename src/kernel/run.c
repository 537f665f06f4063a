#include "kernel/run.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* Shared by the caller and its helpers; the last to leave frees it, so that a helper that begins
 * after the work is done finds it. */
typedef struct job {
  kernel_work work;
  pthread_mutex_t lock;
  pthread_cond_t idle;
  int64_t next;            /* item */
  int32_t threads, joined; /* joined: so far, each has its own scratch */
  int32_t working, owners;
  bool stopped;
} job;

static int64_t take_item(job *j) { return __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED); }

static void stop(job *j) { /* nobody takes another item */
  __atomic_store_n(&j->stopped, true, __ATOMIC_RELAXED);
  __atomic_store_n(&j->next, j->work.items, __ATOMIC_RELAXED);
}

static void work_until_done(job *j, int32_t thread) {
  assert(0 <= thread && thread < j->threads); /* each has scratch of its own */
  char *scratch = j->work.scratch + thread * j->work.scratch_bytes;
  for (int64_t item; (item = take_item(j)) < j->work.items;) {
    if (j->work.goes_on && !j->work.goes_on(j->work.user, item)) stop(j);
    else j->work.kernel(j->work.buffers, j->work.functions, scratch, j->work.shared, item);
  }
}

/* The number of this thread among those that work; -1: too late, or enough already. */
static int32_t join(job *j) {
  pthread_mutex_lock(&j->lock);
  bool late = __atomic_load_n(&j->next, __ATOMIC_RELAXED) >= j->work.items;
  int32_t thread = late || j->joined == j->threads ? -1 : j->joined++;
  j->working += thread >= 0;
  pthread_mutex_unlock(&j->lock);
  return thread;
}

static void leave(job *j, bool worked) {
  pthread_mutex_lock(&j->lock);
  assert(j->owners > 0 && j->working >= worked);
  j->working -= worked;
  bool last = --j->owners == 0;
  pthread_cond_broadcast(&j->idle);
  pthread_mutex_unlock(&j->lock);
  if (!last) return;
  pthread_cond_destroy(&j->idle);
  pthread_mutex_destroy(&j->lock);
  free(j);
}

static void help(void *data) {
  job *j = data;
  int32_t thread = join(j);
  if (thread >= 0) work_until_done(j, thread);
  leave(j, thread >= 0);
}

static void call_helpers(job *j, kernel_schedule *schedule, void *user) {
  int64_t wanted = j->threads < j->work.items ? j->threads : j->work.items;
  for (int32_t i = 1; i < wanted; i++) {
    pthread_mutex_lock(&j->lock);
    j->owners++;
    pthread_mutex_unlock(&j->lock);
    if (!schedule(user, help, j)) leave(j, false);
  }
}

static bool run_alone(const kernel_work *w) {
  for (int64_t item = 0; item < w->items; item++) {
    if (w->goes_on && !w->goes_on(w->user, item)) return false;
    w->kernel(w->buffers, w->functions, w->scratch, w->shared, item);
  }
  return true;
}

static void finish(const kernel_work *w) {
  for (int64_t item = 0; item < w->finishing; item++)
    w->finish(w->buffers, w->functions, w->scratch, w->shared, item);
}

static bool run_together(job *j, const kernel_work *work, int32_t threads,
                         kernel_schedule *schedule, void *user) {
  *j = (job){.work = *work, .threads = threads, .joined = 1, .working = 1, .owners = 1};
  pthread_mutex_init(&j->lock, NULL);
  pthread_cond_init(&j->idle, NULL);
  call_helpers(j, schedule, user);
  work_until_done(j, 0);
  pthread_mutex_lock(&j->lock);
  while (j->working > 1) pthread_cond_wait(&j->idle, &j->lock);
  pthread_mutex_unlock(&j->lock);
  bool stopped = __atomic_load_n(&j->stopped, __ATOMIC_RELAXED);
  leave(j, true);
  return !stopped;
}

bool kernel_run(const kernel_work *work, int32_t threads, kernel_schedule *schedule, void *user) {
  job *j = threads > 1 && schedule ? calloc(1, sizeof *j) : NULL;
  bool done = j ? run_together(j, work, threads, schedule, user) : run_alone(work);
  if (done) finish(work);
  return done;
}
