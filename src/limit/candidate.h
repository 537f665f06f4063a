/* A way to run the program, and all that is known of it. A value: what is tried changes nothing
 * else, and accepting a candidate is what fills the result. */
#ifndef WEIR_LIMIT_CANDIDATE_H
#define WEIR_LIMIT_CANDIDATE_H
#include "machine/cpu.h"
#include "pipeline/pipeline.h"

typedef struct verdict {
  int64_t peak; /* arguments, results and temporaries, per device; 0: nobody asked */
  int64_t held; /* arguments and results, less what is donated, where XLA said so; else 0 */
  bool is_xlas; /* else weir's estimate */
} verdict;

typedef struct candidate {
  ir_module *m;      /* NULL: the program as it came */
  bool is_stock;     /* compiled as without weir; else with the options of its order */
  bool in_functions; /* whiles of short steps as a function each: limit/steps.h */
  plan_order order;  /* in which XLA runs it */
  verdict needs;
  made_loops made;
  int64_t flops;
  double time_ns;   /* predicted */
  bool has_shorter; /* sums added in blocks might save passes: split/choose.h */
  bool has_whiles;  /* pipeline/made.h */
  bool makes_parts; /* one by one, in trips of whiles: pipeline/pipeline.h */
  bool lacks_room;  /* with more room, later loops would make less again: split/cuts.h */
  double stock_ns;  /* predicted without it, where it is made for the sake of time alone; else 0 */
} candidate;

/* Some of its loops run as kernels; or some do not. */
bool candidate_has_loops(const candidate *c, bool as_kernels);

/* What came of a climb. */
typedef struct climb {
  weir_outcome outcome;
  bool is_refused; /* then nothing below counts */
  candidate taken;
} climb;

static inline climb climb_to(weir_outcome outcome, candidate taken) {
  return (climb){.outcome = outcome, .taken = taken};
}
/* The program as it came, in an order. */
candidate candidate_as_it_came(const job *j, plan_order order, verdict needs);
/* What was split as ordered. */
candidate candidate_of_order(ir_module *m, const split_order *order, verdict needs);
/* What XLA is told to run it, and to report what it needs: see machine_xla_options(). */
void candidate_options(const job *j, const candidate *c,
                       const char *out_options[MACHINE_MOST_OPTIONS + 1]);
/* The result's outcome, options, loops and numbers become those of what was taken. */
WEIR_MUST_USE weir_status candidate_accept(job *j, const climb *c);

#endif
