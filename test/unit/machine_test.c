/* Machines by name: what is read, written and refused, and what follows from a level. */
#define _GNU_SOURCE /* mkdtemp */
#include "machine/cpu.h"
#include "environment_testing.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct reading {
  ctx c;
  const char *name;
  machine found;
  char text[MACHINE_TEXT_ROOM];
} reading;

static weir_status go(void *user) {
  reading *r = user;
  WEIR_TRY(machine_parse(&r->c, r->name, &r->found));
  strcpy(r->text, machine_text(arena_create(&r->c), &r->found));
  return WEIR_OK;
}

static weir_status read_name(const char *name, reading *r) {
  *r = (reading){.name = name};
  ctx_init(&r->c);
  weir_status status = ctx_try(&r->c, go, r);
  ctx_deinit(&r->c);
  return status;
}

static void reads_as(const char *name, const char *text) {
  reading r, again;
  assert(read_name(name, &r) == WEIR_OK && !strcmp(r.text, text));
  assert(read_name(r.text, &again) == WEIR_OK && !strcmp(again.text, text));
}

static void test_names(void) {
  reads_as("x86-64-v4", "x86-64-v4,cores=2,l1=48KiB,l2=2MiB,l3=16MiB");
  reads_as("x86-64-v3", "x86-64-v3,cores=2,l1=32KiB,l2=512KiB,l3=16MiB");
  reads_as("x86-64-v2,cores=16", "x86-64-v2,cores=16,l1=32KiB,l2=256KiB,l3=16MiB");
  reads_as("x86-64-v3,l3=32MB,l2=1MiB", "x86-64-v3,cores=2,l1=32KiB,l2=1MiB,l3=31250KiB");
  reads_as("x86-64,l2=1000001", "x86-64,cores=2,l1=32KiB,l2=1000001,l3=16MiB");
  reads_as("x86-64-v3,cores=2,cores=4", "x86-64-v3,cores=4,l1=32KiB,l2=512KiB,l3=16MiB");
}

/* Rates come back as they were given, to the last digit. */
static void test_rates(void) {
  reads_as("x86-64-v3,clock=3.2", "x86-64-v3,cores=2,l1=32KiB,l2=512KiB,l3=16MiB,clock=3.2");
  reads_as("x86-64-v4,memory=31,fused=0.004321,products=1900,cores=4,clock=3",
           "x86-64-v4,cores=4,l1=48KiB,l2=2MiB,l3=16MiB,clock=3,products=1900,fused=0.004321,"
           "memory=31");
  reading slow, fast;
  assert(read_name("x86-64-v3,clock=3.5", &slow) == WEIR_OK);
  assert(read_name("x86-64-v3,clock=7,products=540,memory=42", &fast) == WEIR_OK);
  machine_rates s = machine_rates_of(&slow.found), f = machine_rates_of(&fast.found);
  machine named = machine_of_level(MACHINE_X86_64_V3);
  machine_rates n = machine_rates_of(&named);
  assert(!memcmp(&s, &n, sizeof s)); /* the reference's clock */
  assert(f.vector_ops == 2 * s.vector_ops && f.heavy == 2 * s.heavy);
  reading one, four; /* multiply-adds a cycle */
  assert(read_name("x86-64-v3,clock=3.5,vectors=3.5", &one) == WEIR_OK);
  assert(read_name("x86-64-v3,cores=4,vectors=14,clock=3.5", &four) == WEIR_OK);
  machine_rates o = machine_rates_of(&one.found), q = machine_rates_of(&four.found);
  assert(o.vector_ops == s.vector_ops / 2 && q.vector_ops == 8 * o.vector_ops);
  assert(o.sorted == s.sorted && o.cached_bytes == s.cached_bytes);
  assert(s.sorted > 0 && f.sorted == 2 * s.sorted); /* of one thread */
  assert(f.gemm_f32_flops == 540 && f.read_bytes == 42 && f.write_bytes == 36);
  assert(f.fresh_bytes == s.fresh_bytes); /* pages are the system's, however fast memory is read */
}

/* Some readings are longer for what came between, a few shorter than the work can be. */
static void test_clock_glitches(void) {
  int64_t all[16], none[1] = {0};
  for (int32_t glitches = 0; glitches <= 4; glitches++) {
    for (int32_t i = 0; i < 16; i++)
      all[i * 5 % 16] = i < glitches ? 1 + i : i < 10 ? 20000 : 90000;
    assert(machine_typical_ns(all, 16) == 20000);
  }
  assert(machine_typical_ns((int64_t[]){7}, 1) == 7 && machine_typical_ns(none, 0) == 0);
  assert(machine_host_clock() < 10 && machine_host_vectors() < 80);
}

/* ---- what is kept ---- */
static weir_status keep_it(void *user) {
  reading *r = user;
  arena *a = arena_create(&r->c);
  WEIR_TRY(machine_keep(a, &r->found.rates));
  r->found = machine_here(a);
  return WEIR_OK;
}

static weir_status keep(machine_measured rates, reading *r) {
  *r = (reading){.found.rates = rates};
  ctx_init(&r->c);
  weir_status status = ctx_try(&r->c, keep_it, r);
  ctx_deinit(&r->c);
  return status;
}

static void put_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  assert(f && fputs(text, f) >= 0 && !fclose(f));
}

/* Kept in three digits for this computer alone; what can't be read is as if it were not there. */
static void test_kept(void) {
  char in[] = "/tmp/weir-machine-XXXXXX", path[64];
  assert(mkdtemp(in));
  set_variable("WEIR_CACHE_DIR", in);
  snprintf(path, sizeof path, "%s/machines", in);
  reading r, here;
  assert(read_name(NULL, &here) == WEIR_OK && here.found.rates.clock == 0);
  put_file(path, "x86-64-v2,cores=999,l1=32KiB,l2=1MiB,l3=1MiB,clock=1\nrubbish\n");
  assert(keep((machine_measured){.products = 123.456, .memory = 0.0123456}, &r) == WEIR_OK);
  assert(r.found.rates.products == 123 && r.found.rates.memory == 0.0123);
  assert(r.found.rates.clock > 0.01 && r.found.rates.clock < 10 && r.found.rates.fused == 0);
  assert(r.found.rates.vectors > 0.001 && r.found.rates.vectors < 8 * r.found.rates.clock);
  assert(read_name("", &here) == WEIR_OK && here.found.rates.clock == r.found.rates.clock);
  assert(read_name("host", &here) == WEIR_OK && here.found.rates.clock == 0);
  char own[MACHINE_TEXT_ROOM + 16];
  snprintf(own, sizeof own, "%s,clock=9.6\n", here.text);
  put_file(path, own);
  assert(read_name("", &r) == WEIR_OK && r.found.rates.clock == 9.6);
  snprintf(own, sizeof own, "%s,clock=19.6\n", here.text); /* no processor is as fast */
  put_file(path, own);
  assert(read_name("", &r) == WEIR_OK && r.found.rates.clock == 0);
  put_file(path, "x86-64-v2,cores=999,l1=32KiB,l2=1MiB,l3=1MiB,clock=1\nrubbish\n");
  assert(keep((machine_measured){.fused = 4000}, &r) == WEIR_OK && r.found.rates.products == 0);
  assert(r.found.rates.fused == 4000);
  char kept[512] = "";
  FILE *f = fopen(path, "r");
  assert(f && fread(kept, 1, sizeof kept - 1, f) > 0 && !fclose(f));
  assert(strstr(kept, "cores=999") && !strstr(kept, "products"));
  assert(keep((machine_measured){.fused = -1}, &r) == WEIR_INVALID_ARGUMENT);
  assert(keep((machine_measured){.fused = 1e30}, &r) == WEIR_INVALID_ARGUMENT);
  assert(!unlink(path) && !mkfifo(path, 0600)); /* a pipe is no file */
  assert(read_name(NULL, &here) == WEIR_OK && here.found.rates.clock == 0);
  assert(!unlink(path) && !rmdir(in));
  set_variable("WEIR_CACHE_DIR", "off");
  assert(keep((machine_measured){0}, &r) == WEIR_UNIMPLEMENTED);
}

static void test_bad_names(void) {
  static const char *const bad[] = {"x86-64-v5",
                                    "v3",
                                    "X86-64-V3",
                                    "x86-64-v3,",
                                    "x86-64-v3,,",
                                    ",cores=2",
                                    "x86-64-v3 cores=2",
                                    "x86-64-v3,cores",
                                    "x86-64-v3,cores=",
                                    "x86-64-v3,cores=0",
                                    "x86-64-v3,cores=-1",
                                    "x86-64-v3,cores=2.5",
                                    "x86-64-v3,cores=99999999999999999999",
                                    "x86-64-v3,l2=0",
                                    "x86-64-v3,l2=1",
                                    "x86-64-v3,l2=1TB",
                                    "x86-64-v3,l4=1MB",
                                    "x86-64-v3,l2=MiB",
                                    "x86-64-v3,clock=0",
                                    "x86-64-v3,clock=",
                                    "x86-64-v3,clock=3.",
                                    "x86-64-v3,clock=.5",
                                    "x86-64-v3,clock=-1",
                                    "x86-64-v3,clock=1e3",
                                    "x86-64-v3,clock=3.1.2",
                                    "x86-64-v3,clock=3.1234567",
                                    "x86-64-v3,products=12345678901234567",
                                    "x86-64-v3,products=9999999999",
                                    "x86-64-v3,memory=nan",
                                    "x86-64-v3,speed=1",
                                    "h100,clock=2",
                                    "cores=2",
                                    "H100",
                                    "a100",
                                    "h100,cores=2",
                                    " "};
  reading r;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert(read_name(bad[i], &r) == WEIR_INVALID_ARGUMENT);
    assert(strstr(r.c.message, "x86-64-v3,cores=8,l3=32MiB"));
  }
}

/* Nobody's tests know what the host is, but that it describes itself. */
static void test_host(void) {
  reading r, named;
  assert(read_name(NULL, &r) == WEIR_OK && read_name("host", &named) == WEIR_OK);
  assert(!strcmp(r.text, named.text) && read_name("", &named) == WEIR_OK);
  assert(!strcmp(r.text, named.text) && read_name(r.text, &named) == WEIR_OK);
  assert(!strcmp(r.text, named.text) && r.found.cores >= 1 && r.found.l2_bytes > 0);
  assert(read_name("host,cores=7", &named) == WEIR_OK && named.found.cores == 7);
  assert(named.found.l1_bytes == r.found.l1_bytes && named.found.level == r.found.level);
  assert(machine_runs(r.found.level, r.found.level));
}

static void test_levels(void) {
  assert(machine_runs(MACHINE_X86_64_V4, MACHINE_X86_64_V2));
  assert(!machine_runs(MACHINE_X86_64_V3, MACHINE_X86_64_V4));
  assert(!machine_runs(MACHINE_AARCH64, MACHINE_X86_64));
  assert(!machine_runs(MACHINE_X86_64_V4, MACHINE_AARCH64));
  for (machine_level i = 0; i < MACHINE_LEVELS; i++) {
    machine m = machine_of_level(i);
    assert(machine_vector_bytes(&m) >= 16 && machine_vector_registers(&m) >= 16);
    assert(m.l1_bytes < m.l2_bytes && m.l2_bytes < m.l3_bytes);
  }
}

static weir_status settle_it(void *user) {
  reading *r = user;
  const char *platform = r->text[0] ? r->text : NULL;
  WEIR_TRY(machine_parse(&r->c, r->name, &r->found));
  WEIR_TRY(machine_settle(&r->c, &r->found, &platform));
  memmove(r->text, platform, strlen(platform) + 1);
  return WEIR_OK;
}

static weir_status settle(const char *name, const char *platform, reading *r) {
  *r = (reading){.name = name};
  strcpy(r->text, platform);
  ctx_init(&r->c);
  weir_status status = ctx_try(&r->c, settle_it, r);
  ctx_deinit(&r->c);
  return status;
}

/* A device brings its platform, a platform its typical device, and they may not differ. */
static void test_platforms(void) {
  reading r;
  assert(settle("h100", "", &r) == WEIR_OK && !strcmp(r.text, "cuda") && r.found.device);
  assert(settle("x86-64-v3", "", &r) == WEIR_OK && !strcmp(r.text, "cpu") && !r.found.device);
  assert(settle("x86-64-v3", "tpu", &r) == WEIR_OK && r.found.device == device_find("v5e"));
  assert(settle("x86-64-v3", "new", &r) == WEIR_OK && !strcmp(r.text, "new") && !r.found.device);
  assert(settle("v5p", "tpu", &r) == WEIR_OK && r.found.device == device_find("v5p"));
  assert(settle("v5p", "cuda", &r) == WEIR_INVALID_ARGUMENT);
  assert(strstr(r.c.message, "v5p is a device of platform tpu, not of cuda"));
  assert(settle("h100", "cpu", &r) == WEIR_INVALID_ARGUMENT);
}

/* Every row is whole, and has a name of its own. */
static void test_devices(void) {
  int32_t count = 0;
  for (const device *d; (d = device_at(count)); count++) {
    assert(d->memory_bytes >= (int64_t)8 << 30 && d->cache_bytes > 0 && *d->source && *d->kind);
    assert(d->ops > 0 && d->products_f32 >= d->products_f64 && d->products_f64 > 0);
    assert(device_find(d->name) == d && device_typical(d->platform->name));
    reads_as(d->name, d->name);
    machine m = {.device = d};
    machine_rates rates = machine_rates_of(&m);
    assert(rates.read_bytes == d->bytes && rates.op_ns > 0 && rates.resident_bytes > 0);
#define RATE(name, value, grows) assert(rates.name > 0);
    CPU_RATES(RATE)
#undef RATE
  }
  assert(count >= 14 && !device_at(-1) && !device_find("") && !device_typical("cpu"));
}

/* Arrays on a device: dense and aligned on GPUs, in tiles of (8, 128) on TPUs. */
static void test_bytes_of_arrays(void) {
  const device_memory *gpu = device_find("h100")->memory, *tpu = device_find("v5e")->memory;
  const int64_t column[] = {1000, 1}, cube[] = {3, 4, 5}, none[] = {0, 7}, huge[] = {INT64_MAX, 2};
  assert(device_least_bytes(gpu, 4, 2, column) == 4000);
  assert(device_most_bytes(gpu, 4, 2, column) == 4096);
  /* 1000 along the lanes and one row; or 1000 rows of 128 lanes */
  assert(device_least_bytes(tpu, 4, 2, column) == 1024 * 4);
  assert(device_most_bytes(tpu, 4, 2, column) == 1000 * 128 * 4);
  /* two rows of bf16 share one; 5 rows of 8 */
  assert(device_most_bytes(tpu, 2, 2, column) == 1008 * 128 * 2);
  assert(device_least_bytes(tpu, 4, 3, cube) == 3 * 4 * 128 * 4);
  assert(device_most_bytes(tpu, 4, 3, cube) == 5 * 8 * 128 * 4);
  assert(device_row_bytes(tpu, 4, 2, column) == 1000 * 128 * 4);
  assert(device_row_bytes(gpu, 4, 2, column) == 4000);
  assert(device_least_bytes(tpu, 4, 0, NULL) == 512 && device_most_bytes(tpu, 4, 0, NULL) == 4096);
  assert(device_most_bytes(tpu, 4, 2, none) >= device_least_bytes(tpu, 4, 2, none));
  assert(device_most_bytes(tpu, 4, 2, huge) == INT64_MAX);
}

/* Of a CPU what stays in cache, of a device what the limit allows. */
/* Measured: no level has another. */
static void test_patches(void) {
  for (machine_level i = 0; i < MACHINE_LEVELS; i++) {
    machine m = machine_of_level(i);
    m.cores = 64;
    machine_patches p = machine_patches_on(&m);
    assert(p.few_in_group == 4 && p.few_in_volume == 16 && p.few_flops == 128);
  }
}

static void test_slices(void) {
  machine cpu = machine_of_level(MACHINE_X86_64_V3), card = {.device = device_find("h100")};
  const int64_t gb = 1000000000;
  machine_slices small = machine_slices_under(&cpu, gb), large = machine_slices_under(&card, gb);
  assert(small.first_bytes == 8 << 20 && small.cached_bytes == 1 << 20);
  assert(large.first_bytes == gb / 2 && large.cached_bytes == gb / 2 && large.generous == 1);
  assert(machine_slices_under(&cpu, 80).first_bytes == 10);
  assert(machine_xla_otherwise(&card) && !machine_xla_otherwise(&cpu));
}

int main(void) {
  test_platforms();
  test_devices();
  test_bytes_of_arrays();
  test_patches();
  test_slices();
  set_variable("WEIR_CACHE_DIR", "off");
  test_names();
  test_rates();
  test_clock_glitches();
  test_kept();
  test_bad_names();
  test_host();
  test_levels();
  return 0;
}
