/* SIGINT reaches whoever handled it, however handlers were put in front of one another. */
#include <assert.h>
#include <signal.h>
#include <string.h>

#include "call/interrupt.h"
#include "weir/weir.h"

static int seen, chained;
static struct sigaction behind;

static void application(int signal) {
  (void)signal;
  seen++;
}

/* A library's, which hands on to who was there before. */
static void chain(int signal, siginfo_t *info, void *context) {
  chained++;
  if (behind.sa_flags & SA_SIGINFO) behind.sa_sigaction(signal, info, context);
  else behind.sa_handler(signal);
}

static void press(int expected_seen, int expected_chained) {
  uint32_t watch = interrupt_watch();
  seen = chained = 0;
  assert(!interrupt_came(watch));
  raise(SIGINT);
  assert(interrupt_came(watch));
  assert(seen == expected_seen && chained == expected_chained);
}

int main(void) {
  struct sigaction plain = {.sa_handler = application}, chaining = {.sa_flags = SA_SIGINFO};
  chaining.sa_sigaction = chain;
  assert(!sigaction(SIGINT, &plain, NULL));
  (void)interrupt_watch(); /* nobody wants loops to end */
  raise(SIGINT);
  assert(seen == 1);
  weir_interrupts(true);
  press(1, 0);
  assert(!sigaction(SIGINT, &chaining, &behind)); /* in front of ours, */
  press(1, 1);                                    /* and ours in front of that one */
  press(1, 1);
  assert(!sigaction(SIGINT, &plain, NULL)); /* both taken out */
  press(1, 0);
  return 0;
}
