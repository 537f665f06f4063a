/* Passes strung together, and the split: module -> module, in place. Knows no limit but the one
 * that a split is told. */
#ifndef WEIR_PIPELINE_PIPELINE_H
#define WEIR_PIPELINE_PIPELINE_H
#include "base/strbuf.h"
#include "ir/ir.h"
#include "machine/machine.h"
#include "pass/pass.h"
#include "pipeline/materialise.h"
#include "plan/peak.h"
#include "split/checkpoint.h"
#include "split/choose.h"
#include "split/shards.h"

/* A program as it is, in an order, and what may be split of it at all. */
typedef struct unsplit {
  const ir_module *of; /* NULL: not known yet */
  plan_order order;
  int64_t peak_bytes;
  int64_t live_bytes;  /* the same without what is lost between buffers */
  int64_t whole_bytes; /* held outside of whiles at the peak, as split_order.whole_bytes has it */
  int64_t live_whole_bytes;
  int64_t largest_bytes; /* of its values, and of buffers at the peak: seeds are larger than a
                            threshold */
} unsplit;

/* What XLA said of a program under options. */
typedef struct referee_report {
  uint64_t key;
  bool has_failed; /* it does not compile it */
  weir_memory memory;
} referee_report;

/* What XLA said of the program as it came, in the order that saves memory; 0: it was not asked. */
typedef struct ordered_report {
  int64_t estimate_bytes, peak_bytes, held_bytes;
} ordered_report;

/* One weir_rewrite(): what was asked, and what is made once for all that is tried. */
typedef struct job {
  ctx c;
  weir_options options;
  machine machine; /* that it is for */
  weir_result *result;
  const char *text;
  size_t length;
  ir_module *m;        /* as read */
  bool is_vast;        /* inlined; only passes that are named look at such */
  bool is_asked_ahead; /* whether it is left untouched: not, where a timer will be asked */
  pass_driver driver;
  ir_module *prepared;  /* what is split, under any limit; NULL: not made yet */
  bool was_needed;      /* passes changed it that are worth it only where nothing else holds */
  split_spread spread;  /* of the prepared program */
  unsplit as_it_is;     /* of what was split last */
  ordered_report said;  /* of it as it came */
  int64_t searched_ops; /* of all candidates: their budget */
  int64_t spent_ops;    /* that searches looked at: limit/search.h */
  struct split_schedules *schedules; /* of all candidates; NULL: none was made */
  struct witnesses *witnesses;       /* limit/witness.c; NULL: nobody has looked for any */
  struct made_before *made_before;   /* limit/made_before.c; NULL: none was */
  VEC(referee_report) reports;       /* XLA is asked once of a program */
  arena *reports_arena;              /* NULL: there are none */
} job;

typedef VEC(weir_loop_info) made_loops;

/* Which loops become kernels, where WEIR_TILE_AUTO leaves that to predictions. */
typedef enum kernels_wanted {
  KERNELS_THAT_GAIN,
  KERNELS_WORTH_A_TRY, /* also such as may lose a little */
  KERNELS_ALL          /* whatever they gain */
} kernels_wanted;

enum { MOST_CHECKPOINTS = 8 };

/* What the split pass is told, and what it tells. */
typedef struct split_order {
  split_goal goal;
  int64_t limit_bytes;    /* split until the estimated peak is under it; 0: split every tensor above
                             the threshold */
  int64_t asked_bytes;    /* estimates up to it are worth asking XLA; 0: none above limit_bytes */
  plan_order order;       /* in which XLA will run it */
  bool by_size;           /* that, also where there is a limit */
  bool no_kernels;        /* loops stay loops */
  const machine *machine; /* that it is for, and that runs kernels; NULL: any CPU */
  kernels_wanted kernels; /* else */
  double least_gain;      /* by that: predicted, times as fast */
  bool spurns_kernels;    /* out: some loop would be one, and gain less */
  int32_t n_kernels;      /* out: loops that became kernels */
  bool is_written;        /* out: something that XLA would make again: pipeline/materialise.h */
  bool no_hoisting;       /* whiles keep what no trip of theirs changes */
  int64_t hoisted_bytes;  /* out: of what they do not make any more */
  int64_t peak_bytes;     /* out: estimate afterwards */
  bool fits;              /* out */
  int64_t most_bytes;     /* as soon as what stays whatever is split takes more, it is given up */
  bool is_given_up;       /* out */
  int64_t whole_bytes; /* out: of the peak that was left, what does not depend on the slices: held
                          outside of loops. 0: it fits */
  bool only_kernels;   /* out: all loops would be kernels, for which slices don't matter */
  int64_t added_bytes; /* out: the most that a loop adds as large parts of sums of products */
  int64_t moved_bytes; /* out: of these sums, what could be carried as parts of larger ones */
  bool has_shorter;    /* out: goal.part_bytes might save passes: split/choose.h */
  bool is_torn;        /* out: XLA's are loops that should agree on values (split/agreement.h) */
  int32_t loops;       /* out: regions that were split */
  int32_t cut_sixteenths; /* of the room beside arguments and results, for what is put out
                             between many stages: split/cuts.h */
  bool has_cuts;          /* out: something is, or might be with more room */
  bool lacks_room;        /* out: there might be more of it */
  int64_t spare_bytes;    /* segments in segments leave so much of the room beside arguments and
                             results, which is: */
  int64_t deep_bytes;     /* out */
  int64_t kept_bytes;     /* out: the most that one of them takes of it */
  bool keeps_trips;       /* out: some loop keeps what its trips do, in segments or not */
  bool lacks_phases;      /* out: scans would take more than goal.most_phases */
  int32_t n_checkpoints;
  split_checkpoints checkpoints[MOST_CHECKPOINTS]; /* out: loops that run in segments; the first */
  bool is_trial; /* nothing is asked but whether it holds: no kernels, no report */
  int64_t
      search_end;   /* of ctx.looked_at: nothing more is split from there on; 0: there is no end */
  int64_t most_ops; /* of the module: likewise; 0: as many as it takes */
  bool has_whiles;  /* out: see made_has_whiles */
  bool makes_parts; /* out: trips of whiles make what they read of a value: a row of a product */
  made_loops made;  /* out, for the report; lives as long as the module */
  int64_t flops;    /* out */
  double time_ns;   /* out: with kernels */
} split_order;

/* pipeline.c: the passes of pass/passes.def in order. */
extern const pass_row pipeline_passes[];
typedef struct pipeline_changes {
  bool replaced; /* a pass took large tensors out of the program */
  bool needed;   /* one did something that is worth it only where nothing else holds */
} pipeline_changes;

/* What a program is prepared for. */
typedef enum pipeline_purpose {
  PREPARE_FOR_A_SPLIT, /* all that comes before one */
  PREPARE_PLAINLY,     /* the same without what is worth it only where nothing else holds */
  PREPARE_FOR_SPEED, /* of these what is exact, or made for speed: it holds its limit, and is split
                        for the sake of time */
  PREPARE_SHARDED,   /* all for what XLA partitions, by its global shapes */
  PREPARE_AS_IT_CAME /* what is for programs that hold their limit so */
} pipeline_purpose;

/* Under a limit, 0: none; some passes ask what is small beside it. out_changes may be NULL. */
WEIR_MUST_USE weir_status pipeline_prepare(job *j, pipeline_purpose why, int64_t limit_bytes,
                                           ir_module *m, pipeline_changes *out_changes);
/* Whether passes have made the same of a program. */
bool pipeline_is_alike(const ir_module *x, const ir_module *y);
WEIR_MUST_USE weir_status pipeline_tidy(job *j, ir_module *m); /* dce */
/* Whether programs may call weir: on CPUs, and calls can't be cut up. */
bool pipeline_can_call(const weir_options *o, const ir_module *m);
/* Whether the options let programs that fit have kernels. */
bool pipeline_fit_is_on(const job *j);
/* Whether programs that fit may be sliced for the sake of time. */
bool pipeline_slices_are_on(const job *j);
bool pipeline_functions_are_on(const job *j);
/* Splits a copy of the program. Where some loops would be kernels and others not that have to agree
 * on values (split/agreement.h): once more, without kernels. Likewise where it is over asked_bytes
 * by what kernels ask for, and there are none: taken if it is not then. */
WEIR_MUST_USE weir_status pipeline_split_copy(job *j, const ir_module *m, split_order *order,
                                              ir_module **out_m);

/* *out_m: a copy of `from`, NULL: of the program as it came, with what XLA would make again and
 * again written to memory (pipeline/materialise.h); NULL: nothing would be, or there is no room. */
WEIR_MUST_USE weir_status pipeline_materialise_copy(job *j, const ir_module *from,
                                                    materialise_room *room, ir_module **out_m);

/* splitter.c: which seeds, in which order. */
/* Cost: two estimates. */
unsplit splitter_unsplit(const ir_module *m, const split_order *order);
/* Whether an order would leave the program as it is: no value is large enough. */
bool splitter_leaves_alone(const unsplit *u, const split_order *order);
void splitter_above_threshold(ir_module *m, split_order *order);
void splitter_to_fit(ir_module *m, split_order *order);
/* Whether it fits as it stands. Of many loops whose results are read by later ones, that is less
 * once they are whiles. */
void splitter_judge(const ir_module *m, split_order *order);

/* spread.c: of a program of several partitions that says nothing of shardings, the values above the
 * threshold sharded. In place; whether any is. */
bool pipeline_spread(ir_module *m, int64_t threshold_bytes);

#endif
