/* What the estimate knows of buffers: peak_buffers.c finds them, peak_assign.c places them,
 * peak_report.c says what they are. Private to these. */
#ifndef WEIR_PLAN_PEAK_ASSIGN_H
#define WEIR_PLAN_PEAK_ASSIGN_H
#include "base/saturate.h"
#include "plan/peak_graph.h"

enum { PLAN_CPU_ALIGNMENT = 64 };

typedef struct plan_interval {
  int64_t from, to; /* both inclusive */
} plan_interval;

typedef struct plan_value {
  uint32_t node, member, parent; /* parent: union-find */
  /* a loop's state element that no trip changes: no value of its own */
  bool passed_on;
  bool is_table; /* a tuple's pointers */
  int64_t bytes;
  plan_interval live;
} plan_value;

typedef struct plan_buffer { /* a class of values */
  int64_t bytes, offset;
  uint32_t first, count; /* in by_class */
  plan_interval *live;
  uint64_t sketch;              /* of live: a bit per 64th of the time line */
  uint32_t n_live, merged_into; /* 1 + the buffer that it was merged into; 0: none */
  uint32_t n_own;               /* values but for those passed on */
  int64_t own_events, events;   /* from taking to giving back: its first value, all of them */
  bool fixed, is_output, placed, is_table;
  bool is_near; /* on the chip */
} plan_buffer;

typedef struct plan_assigner {
  plan_graph *g;
  uint32_t *base;      /* by node: its first value */
  int64_t *time;       /* by node */
  plan_interval *span; /* by computation */
  plan_value *values;
  uint32_t n_values;
  int64_t now;
  plan_buffer *buffers;
  uint32_t n_buffers;
  uint32_t *buffer_of; /* by value */
  uint32_t *by_class;  /* values, class by class, in order of start */
} plan_assigner;

static inline int64_t plan_aligned(const plan_assigner *a, int64_t bytes) {
  int64_t alignment = a->g->memory ? a->g->memory->align_bytes : PLAN_CPU_ALIGNMENT;
  return saturated_sum(bytes, alignment - 1) / alignment * alignment;
}

/* ---- peak_buffers.c ---- */
/* Values, their classes and when these are live. In the graph's arena. */
plan_assigner *plan_buffers_of(plan_graph *g);
/* Results over operands that die there, in all that the computation runs. After results have
 * theirs. */
void plan_share_buffers(plan_assigner *a, uint32_t comp);
/* The value behind an array node; 0: none (an element of a nested tuple). */
uint32_t plan_value_of(const plan_assigner *a, uint32_t node);
/* The buffer that this one was merged into, or itself. Near constant time. */
uint32_t plan_merged(plan_assigner *a, uint32_t b);
/* 0, 1 (then *out_at) or 2 and more points in time at which both are live. */
int plan_common_times(const plan_buffer *x, const plan_buffer *y, int64_t *out_at);
bool plan_overlap(const plan_buffer *x, const plan_buffer *y,
                  int64_t except); /* at another time than that */
bool plan_is_temporary(const plan_buffer *b);
bool plan_counts(const plan_buffer *b); /* a temporary that is not on the chip */
/* The most bytes of temporaries, on the chip or not, that are live at once, and when first. */
int64_t plan_most_live(plan_assigner *a, bool near, int64_t *out_at);

/* ---- peak_assign.c ---- */
/* Places all buffers; where more than enough_bytes are live at once, no heap is laid out. Bytes of
 * temporaries, and when the most are live. */
int64_t plan_place(plan_assigner *a, int64_t enough_bytes, int64_t *out_at);

/* ---- peak_report.c ---- */
/* Who holds out->temp_bytes at that time. */
void plan_report_holders(plan_assigner *a, int64_t at, plan_peak *out);

#endif
