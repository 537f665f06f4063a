/* Rung 3 of the ladder: copies of the prepared program, split in one way after the other, until the
 * referee says that one holds. */
#ifndef WEIR_LIMIT_SEARCH_H
#define WEIR_LIMIT_SEARCH_H
#include "limit/candidate.h"

/* Of search_ops(): for the smallest limit of a refusal, and for what other limits cost. */
enum { MINIMUMS_SHARE = 16 };
/* The same for what is near a candidate that a first search has found. */
enum { NEAR_SHARE = 64 };
/* Shorter slices are not tried. */
enum { LEAST_SLICE_BYTES = 1 << 10 };
/* Of candidates, by XLA. */
enum { MOST_COMPILES = 8, COMPILES_OF_WITNESSES = 2 /* each: limit/witness.h */ };

/* What a candidate splits. */
typedef enum manner {
  BY_PEAK,      /* what holds the peak, until the limit is held */
  WRITTEN_OVER, /* likewise, with loops that write over states of whiles by rows that they carry
                   (split/halo.h). It may take more time, so not before; all that follow do it */
  MASKS_APART,  /* where values that have a mask in common need not be split together */
  BY_STEPS,     /* scans in slices of their steps, with what they read and stack: split/chunks.h */
  NESTED,       /* with values that each trip of a loop computes again: costs time */
  IN_BLOCKS,    /* where a trip's part of a product's sum is added block by block */
  ANEW_IN_BLOCKS, /* both: layers whose weights are cut from a stack, and their gradients */
  BY_SIZE,  /* whatever is larger than a slice: holds here and there what no holder leads to */
  BY_FIT,   /* along what has slices that fit, whatever else then stays in memory */
  IN_TURNS, /* as BY_STEPS, in any number of phases, which make values again: split/phases.h */
  OUTSIDE,  /* whiles around a holder before what is inside of them */
  DEEPER,   /* segments of what loops keep have segments of their own: costs time */
  SORTED,   /* as NESTED, and what is sorted is made slice by slice: costs much time */
  SEGMENTS  /* segments of what loops keep before slices; limit/faster.h */
} manner;

/* Where in a search a candidate stands. */
typedef struct place {
  int64_t slice_bytes;
  manner manner;
} place;

/* Whether XLA is asked about candidates in doubt: over the target by the estimate, by so little
 * that the estimate may be too high. */
typedef enum doubts {
  UNASKED,  /* first come all of which the estimate says that they hold */
  ASKED,    /* none of these did */
  DISPELLED /* of a candidate that is over the limit XLA has said what the estimate does */
} doubts;

/* The candidates of the least estimates. */
typedef struct seen {
  int64_t least;       /* of any */
  place at_least;      /* which it was */
  struct search *best; /* the search as it was before the candidate with the least estimate, of
                          those whose extra work is worth it; NULL: there was none */
  int64_t best_peak;   /* that estimate, or what it has to be below; 0: best is not asked for */
} seen;

/* Slices shrink; at each size first only what is large beside the limit is dissolved, then whatever
 * is larger than a slice. Likewise for each manner in turn. */
typedef struct search {
  int64_t limit, target, slice_bytes, share;
  int64_t enough;          /* a candidate that needs no more holds: the limit, or more */
  int64_t threshold_bytes; /* larger values are dissolved; 0: it follows from the slices */
  double devices;     /* that values are spread over; sizes of slices are of all devices together */
  int64_t hold_bytes; /* what is larger is not held for a while to read, but made anew inside it */
  bool thorough;
  bool shares_are_hopeless; /* what they leave whole is over the target, at any slice */
  manner manner;
  uint32_t manners;      /* that are tried, a bit each; 0: all */
  const ir_module *from; /* what is split: the prepared program */
  double most_ns;      /* predicted for what XLA gets: what takes longer is dropped; 0: any time */
  double most_time_ns; /* likewise, with kernels as kernels */
  double most_xla_ns;  /* likewise, for a candidate without kernels that adds in blocks */
  int32_t candidates, most_candidates; /* 0: as many as it takes */
  bool is_over;                        /* no further candidate is worth it */
  int64_t *left_ops;   /* that it may look at, with others; NULL: as many as it takes */
  int64_t room_ops;    /* what that was at first */
  bool was_stopped;    /* out: none was left before its own end */
  int64_t added_bytes; /* out: the most that a candidate has of large parts of products' sums */
  int64_t moved_bytes; /* out: of sums that are parts of larger ones */
  bool keeps_trips;    /* out: loops of a candidate keep what their trips do */
  bool lacks_phases;   /* out: a candidate's scans would take more phases than it may have */
  bool refines_cuts;   /* spans are chosen once more, and may be written over each other: not before
                          something holds without */
  int32_t cut_sixteenths; /* of the room: for what is put out between many stages */
  int64_t spare_bytes; /* that checkpoints leave free, as the last candidate was over the target */
  int32_t spared;      /* how often that grew, with the same slices */
  bool no_kernels;     /* which have scratch of their own */
  kernels_wanted kernels; /* else which of them loops become */
  bool spurns_kernels;    /* out: some loops did not, and would gain less */
  bool in_functions;      /* XLA makes functions of whiles of short steps: limit/steps.h */
  bool no_hoisting;       /* nothing is made before whiles: XLA said that it is too much */
  int32_t most_compiles,
      compiles;    /* to ask XLA, where there is a referee; 0: the estimate decides */
  bool asks_later; /* the estimate decides, and whoever takes what is found asks XLA; not of
                      what is in doubt. Compilations count as if each had been asked about */
  doubts doubts;
  plan_order order;       /* in which XLA is to run candidates */
  int64_t part_bytes;     /* of goals: split/choose.h */
  bool is_trial;          /* nothing is asked but whether one holds */
  int32_t refusals;       /* candidates that XLA did not compile */
  struct search *refused; /* as it was before the first of these; NULL: none was */
  candidate found;        /* out: what holds the limit; its module is NULL: nothing does */
  int64_t reported;       /* out: the least that XLA said of a candidate; 0: it was not asked */
  place reported_at;      /* out: which it was */
  int64_t doubted; /* the least estimate over the target of which XLA was asked; 0: of none */
  seen seen;       /* out */
} search;

/* How many ops a search of the job may look at, those that XLA compiles for it included. */
int64_t search_ops(const job *j);
/* So many, or what is left of all that searches of the job may look at together. */
int64_t search_ops_left(const job *j, int64_t wanted);
/* A share-th of search_ops(), likewise, for searches that have it together; what they have not come
 * to then stays untried. Lives as long as the job. */
int64_t *search_budget(job *j, int64_t share);

search search_under(const job *j, int64_t limit, plan_order order, int32_t most_compiles,
                    int64_t *left_ops);
/* The same of a program whose values are spread over so many devices, of which each has the limit.
 */
search search_spread(const job *j, int64_t limit, double devices, int32_t most_compiles,
                     int64_t *left_ops);
/* Likewise, and nothing is asked but whether a candidate holds. */
search search_for_limit(const job *j, int64_t limit, int32_t most_compiles, int64_t *left_ops);
/* The first candidate that holds, in the search's own manner. */
WEIR_MUST_USE weir_status search_slices(job *j, search *s);
/* The same of what holds the peak, with kernels and without. */
WEIR_MUST_USE weir_status search_by_peak(job *j, search *s);
/* The same in one manner after the other, with kernels and without; if nothing holds, the first
 * that XLA refused to compile and the estimate lets pass. */
WEIR_MUST_USE weir_status search_all(job *j, search *s);
/* One candidate once more, whatever is left: s is as it was before it. */
WEIR_MUST_USE weir_status search_again(job *j, search *s);
/* Only slices about as long as those of `start`. A search under the limit comes to them, too,
 * unless it finds something before. */
WEIR_MUST_USE weir_status search_near(job *j, search *s, const place *start);

/* A program that was searched goes, for another one may come to lie where it lay. */
void search_done_with(job *j, ir_module *m);

/* ---- its steps, for other searches (limit/faster.h) ---- */
/* Another candidate may be made. */
bool search_goes_on(search *s);
/* One candidate; s->found if it holds. Else the search is narrowed. */
WEIR_MUST_USE weir_status search_try(job *j, search *s);
/* On to the next candidate: less is left whole, or slices are shorter. */
void search_shrink(search *s);
/* Larger values are dissolved. */
int64_t search_threshold(const search *s);
/* The program has such an op. */
bool search_has(const search *s, ir_kind kind);
/* ... or a scan that can be made in slices of its steps. */
bool search_has_scans(const job *j, const search *s);

/* Whatever is larger than a threshold, in slices no larger than given. */
split_goal search_goal_of_sizes(int64_t threshold_bytes, int64_t slice_bytes);

#endif
