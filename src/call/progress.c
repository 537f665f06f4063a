#include "call/progress.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "call/interrupt.h"
#include "weir/weir.h"

enum { MOST_LOOPS = 32, BAR = 20, LINE = 160 };
static const double BETWEEN_SECONDS = 0.2, SHORT_SECONDS = 0.5, STALE_SECONDS = 60;

typedef struct loop {
  bool runs;
  char label[PROGRESS_LABEL];
  int64_t run, done, total;
  double begun, seen; /* seconds */
  uint32_t watch;     /* for Ctrl-C */
} loop;

static struct {
  pthread_mutex_t lock;
  int shown, watched; /* how many want the line; how many ask */
  loop loops[MOST_LOOPS];
  double drawn;
  bool on_screen;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the line ---- */
static void put_duration(char *out, size_t room, double seconds) {
  if (seconds < 100) snprintf(out, room, "%.0f s", seconds);
  else if (seconds < 6000) snprintf(out, room, "%.0f min", seconds / 60);
  else snprintf(out, room, "%.1f h", seconds / 3600);
}

int progress_line(char *out, size_t room, const char *label, int64_t done, int64_t total,
                  double seconds) {
  double share = total > 0 ? (double)done / (double)total : 0;
  double rate = seconds > 0 ? (double)done / seconds : 0;
  char bar[BAR + 1], left[32] = "?";
  for (int i = 0; i < BAR; i++) bar[i] = share * BAR >= i + 1 ? '#' : '-';
  bar[BAR] = '\0';
  if (rate > 0) put_duration(left, sizeof left, (double)(total - done) / rate);
  return snprintf(out, room, "weir: %s  [%s]  %.0f %%, %.3g slices/s, ETA %s", label, bar,
                  100 * share, rate, left);
}

static void write_to_terminal(const char *text, size_t length) {
  ssize_t written = write(STDERR_FILENO, text, length);
  (void)written; /* nobody to tell */
}

static void draw(const loop *l) {
  char line[LINE + 16] = "\r";
  int n = 1 + progress_line(line + 1, LINE, l->label, l->done, l->total, l->seen - l->begun);
  if (n > LINE) n = LINE;
  n += snprintf(line + n, sizeof line - (size_t)n, "\033[K");
  write_to_terminal(line, (size_t)n);
  progress.on_screen = true;
}

static void erase(void) {
  if (progress.on_screen) write_to_terminal("\r\033[K", 4);
  progress.on_screen = false;
}

/* ---- the loops ---- */
/* Of those that are heard of, the one that has run longest. */
static const loop *outermost(double time) {
  const loop *found = NULL;
  for (int i = 0; i < MOST_LOOPS; i++) {
    const loop *l = &progress.loops[i];
    if (l->runs && time - l->seen < STALE_SECONDS && (!found || l->begun < found->begun)) found = l;
  }
  return found;
}

static void draw_if_due(double time) {
  const loop *l = outermost(time);
  if (!l || time - l->begun < SHORT_SECONDS || time - progress.drawn < BETWEEN_SECONDS) return;
  progress.drawn = time;
  if (progress.shown > 0 && isatty(STDERR_FILENO)) draw(l);
}

static bool is_wanted(void) {
  return __atomic_load_n(&progress.shown, __ATOMIC_RELAXED) > 0 ||
         __atomic_load_n(&progress.watched, __ATOMIC_RELAXED) > 0;
}

static loop *least_recent(void) {
  loop *found = &progress.loops[0];
  for (int i = 0; i < MOST_LOOPS; i++) {
    loop *l = &progress.loops[i];
    if (!l->runs) return l;
    if (l->seen < found->seen) found = l;
  }
  return found;
}

int32_t progress_begin(const char *label, size_t length, int64_t run, int64_t total) {
  if (!is_wanted()) return PROGRESS_NONE;
  double time = now();
  uint32_t watch = interrupt_watch();
  pthread_mutex_lock(&progress.lock);
  loop *l = least_recent();
  *l =
      (loop){.runs = true, .run = run, .total = total, .begun = time, .seen = time, .watch = watch};
  memcpy(l->label, label, length < PROGRESS_LABEL ? length : PROGRESS_LABEL - 1);
  pthread_mutex_unlock(&progress.lock);
  return (int32_t)(l - progress.loops);
}

int32_t progress_find(const char *label, size_t length, int64_t run) {
  int32_t found = PROGRESS_NONE;
  if (!is_wanted()) return found;
  pthread_mutex_lock(&progress.lock);
  for (int32_t i = 0; i < MOST_LOOPS; i++) {
    const loop *l = &progress.loops[i];
    if (l->runs && l->run == run && strlen(l->label) == length && !memcmp(l->label, label, length))
      found = i;
  }
  pthread_mutex_unlock(&progress.lock);
  return found;
}

void progress_at(int32_t number, int64_t done) {
  if (number == PROGRESS_NONE) return;
  assert(number >= 0 && number < MOST_LOOPS); /* of progress_begin() */
  double time = now();
  pthread_mutex_lock(&progress.lock);
  progress.loops[number].done = done;
  progress.loops[number].seen = time;
  draw_if_due(time);
  pthread_mutex_unlock(&progress.lock);
}

bool progress_interrupted(int32_t number) {
  return number != PROGRESS_NONE && interrupt_came(progress.loops[number].watch);
}

void progress_end(int32_t number) {
  if (number == PROGRESS_NONE) return;
  pthread_mutex_lock(&progress.lock);
  progress.loops[number].runs = false;
  if (!outermost(now())) erase();
  pthread_mutex_unlock(&progress.lock);
}

void weir_show_progress(bool show) {
  pthread_mutex_lock(&progress.lock);
  progress.shown += show ? 1 : -1;
  if (!progress.shown) erase();
  pthread_mutex_unlock(&progress.lock);
}

void weir_watch_progress(bool watch) {
  pthread_mutex_lock(&progress.lock);
  progress.watched += watch ? 1 : -1;
  pthread_mutex_unlock(&progress.lock);
}

_Static_assert(sizeof((weir_loop_progress){0}.label) == PROGRESS_LABEL, "weir.h says 80");

bool weir_running_loop(weir_loop_progress *out_loop) {
  weir_loop_progress found = {0};
  double time = now();
  pthread_mutex_lock(&progress.lock);
  const loop *l = outermost(time);
  if (l) {
    found = (weir_loop_progress){.done = l->done, .total = l->total, .seconds = time - l->begun};
    memcpy(found.label, l->label, sizeof found.label);
  }
  pthread_mutex_unlock(&progress.lock);
  size_t size = out_loop->struct_size < sizeof found ? out_loop->struct_size : sizeof found;
  found.struct_size = size;
  if (l) memcpy(out_loop, &found, size);
  return l != NULL;
}
