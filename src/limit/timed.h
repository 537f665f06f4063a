/* Where predictions are unsure whether a program gains by kernels, or by slices that no limit asks
 * for, both ways are timed once, and the choice is kept for the processes that follow.
 * docs/design/timed.md. */
#ifndef WEIR_LIMIT_TIMED_H
#define WEIR_LIMIT_TIMED_H
#include "limit/candidate.h"

/* Predicted, of all runs that are needed: the first with kernels compiles them. */
#define TIMED_MOST_NS 200e6
typedef enum timed_choice {
  TIMED_NEVER, /* it is not for a timer: the prediction stands */
  TIMED_OPEN,  /* nothing was kept */
  TIMED_GAINS, /* what was tried */
  TIMED_LOSES,
} timed_choice;

/* Which two are meant: what is tried, and what there is without. */
typedef struct timed_ways {
  const char *about;
  const char *held;    /* under which options the one without runs; NULL: those of the limit */
  int64_t limit_bytes; /* that they depend on, 0: on none */
  const char *how;     /* what is tried, for people: "in slices"; NULL: "with kernels" */
} timed_ways;

/* Of one program under one job's settings. */
typedef struct timed {
  timed_choice choice;
  timed_ways ways;
  uint64_t key[2];   /* of what is kept */
  weir_took took[2]; /* of what is tried, of the other; 0: not known */
} timed;

/* What may be timed of the program as it came, and what was. Cost: the program's text; nothing
 * where no timer is asked for. */
timed timed_look_up(job *j, timed_ways ways);
/* There is nothing to be timed, whoever asks: the next process does not look for it. */
void timed_give_up(job *j, const timed *t);

/* Whether a predicted gain by kernels says too little, and runs that long can be timed. */
bool timed_is_unsure(double kernels_ns, double xla_ns);

/* Whether two ways, of which neither is predicted to take longer, run that long at the least. */
bool timed_are_quick(double ns);

/* A gain only where it takes no longer, neither way. Of two zeros: TIMED_NEVER. */
timed_choice timed_choice_of(const weir_took took[2]);

/* The choice between two candidates that hold the limit, of which either may be the program as it
 * came. Asks the timer, unless it is known; keeps what that says. *t and the summary have it
 * then; TIMED_NEVER: it could not be timed, or not be kept. */
timed_choice timed_choose(job *j, timed *t, const candidate *tried, const candidate *other);

#endif
