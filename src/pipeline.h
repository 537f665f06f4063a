/* The pipeline and the ladder: what weir_rewrite() does with a program, on top of all folders. */
#ifndef WEIR_PIPELINE_H
#define WEIR_PIPELINE_H
#include "base/strbuf.h"
#include "ir/ir.h"
#include "machine/machine.h"
#include "pass/pass.h"
#include "plan/peak.h"
#include "split/checkpoint.h"
#include "split/choose.h"
#include "split/shards.h"

/* One weir_rewrite(). */
typedef struct job {
  ctx c;
  weir_options options;
  machine machine; /* that it is for */
  weir_result *result;
  const char *text;
  size_t length;
  ir_module *m;         /* as read */
  ir_module *prepared;  /* what is split, under any limit; NULL: not made yet */
  ir_module *rewritten; /* NULL: nothing was */
  plan_order order;     /* in which XLA runs what was rewritten */
  split_spread spread;  /* of the prepared program */
  pass_driver driver;
  int64_t searched_ops; /* of all candidates of the ladder */
  bool probing;         /* a split that only tells whether it holds: not for the result */
  bool refused;         /* the limit can't be held */
  bool is_untouched;    /* for weir_fits() */
  bool is_vast;         /* inlined; only passes that are named look at such */
  bool replaced;        /* a pass took large tensors out of the prepared program */
} job;

enum { MOST_CHECKPOINTS = 8 };

/* What the split pass is told, and what it tells. */
typedef struct split_order {
  split_goal goal;
  int64_t limit_bytes;    /* split until the estimated peak is under it; 0: split every tensor above
                             the threshold */
  plan_order order;       /* in which XLA will run it */
  bool by_size;           /* that, also where there is a limit */
  bool no_tiles;          /* loops stay loops */
  const machine *machine; /* that runs tiles */
  double least_gain;  /* else those become tiles that are predicted to be so many times as fast */
  int32_t n_tiles;    /* out: loops that became tiles */
  int64_t peak_bytes; /* out: estimate afterwards */
  bool fits;          /* out */
  bool only_tiles;    /* out: all loops would be tiles, for which slices don't matter */
  bool is_torn;       /* out: XLA's are loops that should make values alike (split/alike.h) */
  int32_t loops;      /* out: regions that were split */
  int32_t n_checkpoints;
  split_checkpoints checkpoints[MOST_CHECKPOINTS]; /* out: loops that run in segments; the first */
} split_order;

/* pipeline.c: the passes in order. */
extern const pass *const pipeline_passes[];
WEIR_MUST_USE weir_status pipeline_prepare(job *j, ir_module *m); /* inline, simplify, cse, dce */
/* Of these passes the exact ones. */
WEIR_MUST_USE weir_status pipeline_prepare_exactly(job *j, ir_module *m);
WEIR_MUST_USE weir_status pipeline_tidy(job *j, ir_module *m); /* dce */
/* Whether programs may call weir: on CPUs, and calls can't be cut up. */
bool pipeline_can_call(const weir_options *o, const ir_module *m);
/* Whether the options let programs that fit have kernels. */
bool pipeline_fit_is_on(const job *j);
WEIR_MUST_USE weir_status pipeline_split(job *j, ir_module *m,
                                         split_order *order); /* split, dce, lower, dce */

/* ladder.c */
WEIR_MUST_USE weir_status ladder_climb(job *j);
/* Whether the program as read stays untouched for sure. */
WEIR_MUST_USE weir_status ladder_is_untouched(job *j, bool *out_is);

/* splitter.c: which seeds, in which order. */
void splitter_above_threshold(ir_module *m, split_order *order);
void splitter_to_fit(ir_module *m, split_order *order);

#endif
