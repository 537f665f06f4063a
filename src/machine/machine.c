/* Machines by name: the table of levels, and reading and writing descriptions. */
#include "machine/machine.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/kept.h"
#include "base/strbuf.h"

typedef enum family { X86, ARM } family;

/* What an instruction set has, and caches that are typical of processors that have no better one:
 * Sapphire Rapids for v4; Zen 2 and 3 and Skylake for v3; Nehalem for v2; Neoverse N1 for Arm. */
static const struct {
  const char *name;
  family family;
  int32_t vector_bytes, registers;
  bool fma, halves, masks;
  int64_t l1_bytes, l2_bytes;
} levels[MACHINE_LEVELS] = {
    [MACHINE_X86_64] = {"x86-64", X86, 16, 16, false, false, false, 32 << 10, 256 << 10},
    [MACHINE_X86_64_V2] = {"x86-64-v2", X86, 16, 16, false, false, false, 32 << 10, 256 << 10},
    [MACHINE_X86_64_V3] = {"x86-64-v3", X86, 32, 16, true, true, false, 32 << 10, 512 << 10},
    [MACHINE_X86_64_V4] = {"x86-64-v4", X86, 64, 32, true, true, true, 48 << 10, 2 << 20},
    [MACHINE_AARCH64] = {"aarch64", ARM, 16, 32, true, true, false, 64 << 10, 1 << 20},
};

enum { TYPICAL_CORES = 2, MOST_CORES = 1024, TYPICAL_L3_BYTES = 16 << 20 };
static const int64_t LEAST_CACHE_BYTES = 4 << 10, MOST_CACHE_BYTES = (int64_t)64 << 30;

#define ACCEPTED                                                                                   \
  "a machine is host, x86-64, x86-64-v2, x86-64-v3, x86-64-v4 or aarch64, and may be followed by " \
  "cores=N, l1=SIZE, l2=SIZE, l3=SIZE, clock=GHZ, vectors=, products=, fused= and memory=RATE, "   \
  "with commas between: x86-64-v3,cores=8,l3=32MiB; or a device: a100-80gb, h100, v5e and others " \
  "(weir machine --help)"

machine machine_of_level(machine_level level) {
  return (machine){.level = level,
                   .cores = TYPICAL_CORES,
                   .l1_bytes = levels[level].l1_bytes,
                   .l2_bytes = levels[level].l2_bytes,
                   .l3_bytes = TYPICAL_L3_BYTES};
}

const char *machine_level_name(machine_level level) { return levels[level].name; }

bool machine_runs(machine_level here, machine_level code) {
  return levels[here].family == levels[code].family && code <= here;
}

int32_t machine_vector_bytes(const machine *m) { return levels[m->level].vector_bytes; }
int32_t machine_vector_registers(const machine *m) { return levels[m->level].registers; }
bool machine_has_fma(const machine *m) { return levels[m->level].fma; }
bool machine_has_halves(const machine *m) { return levels[m->level].halves; }
bool machine_has_masks(const machine *m) { return levels[m->level].masks; }

/* ---- reading ---- */
/* Up to the comma; *out_rest: behind it, NULL at the end. */
static const char *next_word(arena *a, const char *text, const char **out_rest) {
  size_t n = strcspn(text, ",");
  *out_rest = text[n] ? text + n + 1 : NULL;
  return arena_printf(a, "%.*s", (int)n, text);
}

static machine machine_of_device(const device *d) {
  machine m = machine_of_level(MACHINE_X86_64);
  m.device = d;
  return m;
}

static bool find_base(const char *word, machine *out_machine) {
  if (!strcmp(word, "host")) return *out_machine = machine_host(), true;
  const device *d = device_find(word);
  if (d) return *out_machine = machine_of_device(d), true;
  for (machine_level i = 0; i < MACHINE_LEVELS; i++)
    if (!strcmp(word, levels[i].name)) return *out_machine = machine_of_level(i), true;
  return false;
}

static bool read_cores(const char *text, int32_t *out_cores) {
  char *end;
  long n = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 0;
  if (n < 1 || n > MOST_CORES || *end) return false;
  *out_cores = (int32_t)n;
  return true;
}

static bool read_cache(const char *text, int64_t *out_bytes) {
  int64_t bytes = 0;
  if (weir_parse_bytes(text, &bytes) != WEIR_OK) return false;
  *out_bytes = bytes;
  return bytes >= LEAST_CACHE_BYTES && bytes <= MOST_CACHE_BYTES;
}

/* What a machine may be measured at, a million times more than any is. */
static bool can_be(double rate) { return rate >= 1e-3 && rate <= 1e9; }

enum { MOST_DECIMALS = 6, MOST_DIGITS = 15 };

/* Digits and a point: strtod() would take more, and another point where the locale has one. */
static bool read_rate(const char *text, double *out_rate) {
  size_t whole = strspn(text, "0123456789"), decimals = 0;
  if (text[whole] == '.') decimals = strspn(text + whole + 1, "0123456789");
  size_t length = whole + (decimals ? 1 + decimals : 0);
  if (!whole || text[length] || decimals > MOST_DECIMALS || whole + decimals > MOST_DIGITS)
    return false;
  int64_t digits = 0;
  for (const char *c = text; *c; c++)
    if (*c != '.') digits = 10 * digits + (*c - '0');
  *out_rate = (double)digits / pow(10, (double)decimals);
  return can_be(*out_rate);
}

static bool set_field(machine *m, const char *word) {
  const char *value = strchr(word, '=');
  if (!value++ || m->device) return false;
  size_t n = (size_t)(value - word);
  if (!strncmp(word, "cores=", n)) return read_cores(value, &m->cores);
  if (!strncmp(word, "l1=", n)) return read_cache(value, &m->l1_bytes);
  if (!strncmp(word, "l2=", n)) return read_cache(value, &m->l2_bytes);
  if (!strncmp(word, "l3=", n)) return read_cache(value, &m->l3_bytes);
#define RATE(name)                                                                                 \
  if (!strncmp(word, #name "=", n)) return read_rate(value, &m->rates.name);
  MACHINE_RATES(RATE)
#undef RATE
  return false;
}

static weir_status parse(arena *a, const char *text, machine *m) {
  ctx *c = arena_ctx(a);
  const char *rest = NULL, *word = next_word(a, text, &rest);
  if (!find_base(word, m))
    return ctx_error(c, WEIR_INVALID_ARGUMENT, "\"%.60s\" is no machine; " ACCEPTED, word);
  while (rest) {
    word = next_word(a, rest, &rest);
    if (!set_field(m, word))
      return ctx_error(c, WEIR_INVALID_ARGUMENT,
                       "\"%.60s\" says nothing about a machine that can be; " ACCEPTED, word);
  }
  return WEIR_OK;
}

weir_status machine_parse(ctx *c, const char *text, machine *out_machine) {
  arena *a = arena_create(c);
  weir_status status = WEIR_OK;
  if (text && *text) status = parse(a, text, out_machine);
  else *out_machine = machine_here(a);
  arena_destroy(a);
  return status;
}

weir_status machine_settle(ctx *c, machine *m, const char **in_out_platform) {
  const char *platform = *in_out_platform;
  if (!platform) *in_out_platform = m->device ? m->device->platform->name : "cpu";
  else if (!m->device && device_typical(platform)) *m = machine_of_device(device_typical(platform));
  else if (m->device && strcmp(m->device->platform->name, platform))
    return ctx_error(c, WEIR_INVALID_ARGUMENT, "%s is a device of platform %s, not of %.60s",
                     m->device->name, m->device->platform->name, platform);
  CTX_CHECK(c, !m->device || !strcmp(m->device->platform->name, *in_out_platform));
  return WEIR_OK;
}

/* ---- writing ---- */
static void put_bytes(strbuf *b, const char *name, int64_t bytes) {
  CTX_CHECK(arena_ctx(b->arena), bytes >= 0);
  bool whole = bytes % (1 << 20) == 0, kibi = bytes % (1 << 10) == 0;
  strbuf_printf(b, ",%s=%" PRId64 "%s", name,
                whole  ? bytes >> 20
                : kibi ? bytes >> 10
                       : bytes,
                whole  ? "MiB"
                : kibi ? "KiB"
                       : "");
}

/* With all decimals that are read, so that it is read as the same number. */
static void put_rate(strbuf *b, const char *name, double rate) {
  strbuf_printf(b, ",%s=%.*f", name, MOST_DECIMALS, rate);
  while (b->text[b->length - 1] == '0') b->length--;
  if (b->text[b->length - 1] == '.') b->length--;
  b->text[b->length] = '\0';
}

const char *machine_text(arena *a, const machine *m) {
  strbuf b = strbuf_make(a);
  if (m->device) return m->device->name;
  strbuf_printf(&b, "%s,cores=%d", levels[m->level].name, m->cores);
  put_bytes(&b, "l1", m->l1_bytes);
  put_bytes(&b, "l2", m->l2_bytes);
  put_bytes(&b, "l3", m->l3_bytes);
#define RATE(name)                                                                                 \
  if (m->rates.name > 0) put_rate(&b, #name, m->rates.name);
  MACHINE_RATES(RATE)
#undef RATE
  CTX_CHECK(arena_ctx(a), b.length < MACHINE_TEXT_ROOM);
  return b.text;
}

static const char *describe_device(arena *a, const device *d) {
  strbuf b = strbuf_make(a);
  strbuf_printf(&b, "%s\n\n", d->name);
  strbuf_printf(&b, "device    %s, platform %s\n", d->kind, d->platform->name);
  strbuf_printf(&b, "memory    %.1f GB, %.0f GB/s; cache %" PRId64 " MiB\n",
                (double)d->memory_bytes * 1e-9, d->bytes, d->cache_bytes >> 20);
  strbuf_printf(&b, "rates     elementwise %.3g, products in f32 %.3g, in f64 %.3g Tflop/s\n",
                d->ops * 1e-3, d->products_f32 * 1e-3, d->products_f64 * 1e-3);
  strbuf_printf(&b, "launches  %.3g us an op, %.3g us a trip (not measured)\n",
                d->platform->op_ns * 1e-3, d->platform->trip_ns * 1e-3);
  strbuf_printf(&b, "source    %s\n", d->source);
  return b.text;
}

static void describe_rates(strbuf *b, const machine *m) {
  const machine_measured *r = &m->rates;
  if (!(r->clock > 0)) {
    strbuf_puts(b, "measured  nothing: rates are those of the reference, scaled\n");
    return;
  }
  strbuf_printf(b, "measured  clock %.3g GHz", r->clock);
  if (r->vectors > 0) strbuf_printf(b, ", a core's vectors %.3g G/s", r->vectors);
  if (r->products > 0) strbuf_printf(b, ", XLA's products %.3g Gflop/s", r->products);
  if (r->fused > 0) strbuf_printf(b, ", its exponentials %.3g G/s", r->fused);
  if (r->memory > 0) strbuf_printf(b, ", its reading %.3g GB/s", r->memory);
  strbuf_puts(b, "\n");
}

const char *machine_describe(arena *a, const machine *m) {
  strbuf b = strbuf_make(a);
  if (m->device) return describe_device(a, m->device);
  strbuf_printf(&b, "%s\n\n", machine_text(a, m));
  strbuf_printf(&b, "vectors   %d bytes, %d registers%s%s\n", machine_vector_bytes(m),
                machine_vector_registers(m), machine_has_fma(m) ? ", fused multiply-add" : "",
                machine_has_masks(m) ? ", masks" : "");
  strbuf_printf(&b, "cores     %d\n", m->cores);
  strbuf_printf(
      &b, "caches    L1 %" PRId64 " KiB and L2 %" PRId64 " KiB a core, L3 %" PRId64 " KiB in all\n",
      m->l1_bytes >> 10, m->l2_bytes >> 10, m->l3_bytes >> 10);
  describe_rates(&b, m);
  return b.text;
}

/* ---- what was measured ---- */
#define KEPT_NAME "machines" /* a line for each machine: machine_text */
enum { MOST_KEPT_BYTES = 1 << 16 };
static const double MOST_GHZ = 10; /* a line that says more was measured wrongly */

static const char *kept_lines(arena *a) {
  size_t length;
  const char *text = kept_read(a, KEPT_NAME, MOST_KEPT_BYTES, &length);
  return text ? text : "";
}

/* The next line that is of this machine, or of another; NULL: there is none. */
static const char *next_line(arena *a, const char **rest, const char *host, bool is_its) {
  while (**rest) {
    size_t n = strcspn(*rest, "\n"), known = strlen(host);
    const char *line = arena_printf(a, "%.*s", (int)n, *rest);
    *rest += n + ((*rest)[n] == '\n');
    if ((!strncmp(line, host, known) && line[known] == ',') == is_its) return line;
  }
  return NULL;
}

machine machine_here(arena *a) {
  machine host = machine_host(), kept = host;
  const char *rest = kept_lines(a);
  const char *line = next_line(a, &rest, machine_text(a, &host), true);
  if (line && parse(a, line, &kept) == WEIR_OK && kept.rates.clock <= MOST_GHZ)
    host.rates = kept.rates;
  return host;
}

/* To three digits: more are not measured. */
static double rounded(double rate) {
  double unit = rate > 0 ? pow(10, floor(log10(rate)) - 2) : 1;
  return unit < 1 ? round(rate / unit) / round(1 / unit) : round(rate / unit) * unit;
}

static const char *line_of(arena *a, const machine_measured *by_xla) {
  machine m = machine_host();
#define RATE(name) m.rates.name = rounded(by_xla->name);
  MACHINE_RATES(RATE)
#undef RATE
  m.rates.clock = rounded(machine_host_clock());
  m.rates.vectors = rounded(machine_host_vectors());
  return machine_text(a, &m);
}

weir_status machine_keep(arena *a, const machine_measured *by_xla) {
  ctx *c = arena_ctx(a);
#define RATE(name)                                                                                 \
  if (by_xla->name != 0 && !can_be(by_xla->name))                                                  \
    return ctx_error(c, WEIR_INVALID_ARGUMENT, #name " can't be %g", by_xla->name);
  MACHINE_RATES(RATE)
#undef RATE
  machine host = machine_host();
  strbuf lines = strbuf_make(a);
  const char *rest = kept_lines(a), *known = machine_text(a, &host);
  for (const char *line; (line = next_line(a, &rest, known, false));)
    strbuf_printf(&lines, "%s\n", line);
  strbuf_printf(&lines, "%s\n", line_of(a, by_xla));
  kept_part whole = {lines.text, lines.length};
  if (!kept_write(a, KEPT_NAME, &whole, 1))
    return ctx_error(c, WEIR_UNIMPLEMENTED, "what was measured can't be kept");
  return WEIR_OK;
}
