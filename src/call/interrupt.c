#include "call/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include "weir/weir.h"

/* Whoever puts a handler in front of ours may call ours from it, and we are put in front of that
 * one: then ours is called within itself, and goes on to what was there first. */
static struct {
  pthread_mutex_t lock;
  struct sigaction first, before;
  uint32_t count, depth;
  bool is_in;  /* has been put in */
  bool counts; /* whoever handles it wants loops to end */
} interrupts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void pass_on(const struct sigaction *to, int signal, siginfo_t *info, void *context) {
  if (to->sa_flags & SA_SIGINFO) to->sa_sigaction(signal, info, context);
  else to->sa_handler(signal);
}

static void on_interrupt(int signal, siginfo_t *info, void *context) {
  bool within = __atomic_fetch_add(&interrupts.depth, 1, __ATOMIC_RELAXED) > 0;
  __atomic_fetch_add(&interrupts.count, 1, __ATOMIC_RELAXED);
  pass_on(within ? &interrupts.first : &interrupts.before, signal, info, context);
  __atomic_fetch_sub(&interrupts.depth, 1, __ATOMIC_RELAXED);
}

static bool is_ours(const struct sigaction *a) {
  return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == on_interrupt;
}

static bool is_handled(const struct sigaction *a) {
  return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

static void put_in(void) {
  struct sigaction now, ours;
  if (sigaction(SIGINT, NULL, &now) || is_ours(&now) || !is_handled(&now)) return;
  ours = now;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = on_interrupt;
  interrupts.before = now;
  if (!interrupts.is_in) interrupts.first = now;
  interrupts.is_in = true;
  (void)sigaction(SIGINT, &ours, NULL);
}

uint32_t interrupt_watch(void) {
  pthread_mutex_lock(&interrupts.lock);
  if (interrupts.counts) put_in();
  pthread_mutex_unlock(&interrupts.lock);
  return __atomic_load_n(&interrupts.count, __ATOMIC_RELAXED);
}

bool interrupt_came(uint32_t since) {
  return __atomic_load_n(&interrupts.count, __ATOMIC_RELAXED) != since &&
         __atomic_load_n(&interrupts.counts, __ATOMIC_RELAXED);
}

void weir_interrupts(bool end_loops) {
  __atomic_store_n(&interrupts.counts, end_loops, __ATOMIC_RELAXED);
}
