/* Windows of stencils, by counting: what a window of the result reads lies in the operand's, the
 * padding puts the first of it in its place, and the op gives as many elements as it has to. */
#include <assert.h>
#include <stdint.h>

#include "split/stencil.h"

enum { SLICE = 5 };

static int64_t windows_of(const split_stencil *s, int64_t size, int64_t low, int64_t high) {
  return ((size - 1) * s->holes + 1 + low + high - s->reach) / s->slack + 1;
}

/* Of the trip that begins at this index: element `o` of the result's window reads `place`. */
static void check_read(const split_stencil *s, split_pos operand, split_pos result, int64_t low,
                       int64_t index, int64_t o, int64_t tap) {
  int64_t place = (index * result.unit + result.offset + o) * s->step + tap - s->low;
  int64_t first = index * operand.unit + operand.offset, own = o * s->step + tap - low;
  assert(place - first * s->holes == own); /* counted in the window, the same place */
  if (place % s->holes == 0 && place >= 0) {
    int64_t element = place / s->holes;
    assert(element >= first && element < first + split_window_size(operand, SLICE));
  }
}

static void check(const split_stencil *s, split_pos result) {
  split_pos operand;
  int64_t coarsen = 0, low, high;
  if (!split_stencil_operand(s, result, &operand, &coarsen)) {
    assert(coarsen > 1 && s->holes > 1);
    result.unit *= coarsen;
    bool now = split_stencil_operand(s, result, &operand, &coarsen);
    assert(now);
  }
  assert(split_window_size(operand, 1) > 0 && operand.unit * s->holes == result.unit * s->step);
  split_stencil_padding(s, operand, result, &low, &high);
  int64_t n = split_window_size(result, SLICE);
  assert(low >= 0 && low < s->holes);
  assert(windows_of(s, split_window_size(operand, SLICE), low, high) == n);
  for (int64_t o = 0; o < n; o++)
    for (int64_t tap = 0; tap < s->reach; tap++) check_read(s, operand, result, low, 7, o, tap);
}

static void all_stencils(void) {
  for (int64_t step = 1; step <= 3; step++)
    for (int64_t reach = 1; reach <= 5; reach++)
      for (int64_t holes = 1; holes <= 3; holes++)
        for (int64_t low = -2; low <= 3; low++)
          for (int64_t offset = -3; offset <= 3; offset++)
            for (int64_t more = -1; more <= 3; more++) {
              split_stencil s = {.step = step,
                                 .reach = reach,
                                 .low = low,
                                 .holes = holes,
                                 .slack = step,
                                 .may_cut = true};
              check(&s, (split_pos){.unit = 2, .offset = offset, .more = more});
              if (more >= 0) check(&s, (split_pos){.unit = 1, .offset = offset, .more = more});
            }
}

/* From the operand: a result that covers no other indices, and begins with a slice if it can. */
static void from_operands(void) {
  split_stencil same = {.step = 1, .reach = 5, .low = 2, .holes = 1, .slack = 1};
  split_stencil halved = {.step = 2, .reach = 3, .low = 0, .holes = 1, .slack = 2};
  split_stencil causal = {.step = 1, .reach = 5, .low = 4, .holes = 1, .slack = 1, .stays = true};
  split_stencil odd = {.step = 2, .reach = 1, .low = -1, .holes = 1, .slack = 2};
  split_pos out, plain = {.unit = 1}, twice = {.unit = 2, .offset = -2, .more = 4, .core = 2},
                 later = {.unit = 4, .offset = 2};
  int64_t coarsen = 0;
  assert(split_stencil_result(&same, plain, &out, &coarsen) && split_pos_equal(out, plain));
  assert(split_stencil_result(&causal, plain, &out, &coarsen) && split_pos_equal(out, plain));
  assert(!split_stencil_result(&halved, plain, &out, &coarsen) && coarsen == 2);
  assert(split_stencil_result(&halved, twice, &out, &coarsen) && split_pos_equal(out, plain));
  assert(split_stencil_result(&odd, later, &out, &coarsen) && out.offset == 1); /* reads 3, not 1 */
}

/* The window of the operand, and its core, of a slice at the beginning. */
static void check_core(split_stencil s, int64_t first, int64_t last, int64_t core) {
  split_pos out, back;
  int64_t coarsen = 0;
  bool found = split_stencil_operand(&s, (split_pos){.unit = 1}, &out, &coarsen) &&
               split_stencil_result(&s, out, &back, &coarsen);
  assert(found && out.offset == first && out.offset + out.more == last);
  assert(split_core(out).offset == core && back.offset == 0); /* and the way back */
}

static void cores(void) {
  split_pos wide = split_with_core((split_pos){.unit = 2, .offset = -3, .more = 5}, -1);
  split_pos core = split_core(wide);
  assert(core.offset == -2 && core.more == 0 && core.unit == 2);
  assert(split_contains(wide, core) && !split_contains(core, wide));
  split_pos mirrored = wide;
  mirrored.mirrored = true; /* reads backwards, of windows that do */
  assert(split_contains(mirrored, split_core(mirrored)) && !split_contains(mirrored, core));
  assert(split_core(split_with_core(wide, 7)).offset == 2);
  split_stencil valid = {.step = 1, .reach = 5, .holes = 1, .slack = 1}, causal = valid;
  causal.low = 4, causal.stays = true;
  check_core(valid, 0, 4, 2);
  check_core(causal, -4, 0, 0);
  valid.low = 2;
  check_core(valid, -2, 2, 0);
}

int main(void) {
  all_stencils();
  from_operands();
  cores();
  return 0;
}
