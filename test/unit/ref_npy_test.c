/* .npy files: all versions and orders, every truncation, and the messages for what does not fit. */
#include "ref_testing.h"

#include <unistd.h>

#include "ref/npy.h"

typedef struct npy_job {
  ctx *c;
  const char *bytes;
  size_t length;
  ir_dtype dtype;
  int32_t rank;
  const int64_t *dims;
  ref_tensor out;
} npy_job;

static weir_status parse(void *user) {
  npy_job *j = user;
  ir_type_data want = {.kind = IR_TYPE_TENSOR, .dtype = j->dtype, .rank = j->rank, .dims = j->dims};
  return ref_npy_parse(arena_create(j->c), "x.npy", j->bytes, j->length, &want, &j->out);
}

/* Expects the sum of 10^i x[i] (NAN: an error with `part` in its message). */
static void check(int line, const char *bytes, size_t length, ir_dtype dtype, int32_t rank,
                  const int64_t *dims, double want, const char *part) {
  ctx c;
  ctx_init(&c);
  char *exact = malloc(length + !length); /* so that a sanitizer sees a step beyond */
  memcpy(exact, bytes, length);
  npy_job j = {&c, exact, length, dtype, rank, dims, {0}};
  weir_status status = ctx_try(&c, parse, &j);
  double sum = 0, scale = 1;
  for (int64_t i = 0; status == WEIR_OK && i < ref_element_count(&j.out); i++, scale *= 10) {
    ref_scalar s = ref_load(&j.out, i);
    sum += scale * (ir_dtype_class_of(dtype) == IR_CLASS_FLOAT ? s.f : (double)s.i);
  }
  if (isnan(want) ? status == WEIR_OK || !strstr(c.message, part)
                  : status != WEIR_OK || sum != want) {
    fprintf(stderr, "line %d: %s %s, sum %g\n", line, weir_status_name(status), c.message, sum);
    failures++;
  }
  free(exact);
  ctx_deinit(&c);
}

/* A file of the version with this header and data. Returns its length. */
static size_t make_file(char *out, int version, const char *header, const char *data,
                        size_t n_data) {
  size_t n = strlen(header), start = version == 1 ? 10 : 12;
  memcpy(out, "\x93NUMPY", 6);
  out[6] = (char)version, out[7] = 0;
  for (size_t i = 8; i < start; i++) out[i] = (char)(i < 10 ? n >> (8 * (i - 8)) : 0);
  memcpy(out + start, header, n);
  memcpy(out + start + n, data, n_data);
  return start + n + n_data;
}

#define CHECK(version, header, data, dtype, rank, dims, sum, part)                                 \
  do {                                                                                             \
    char file_[512];                                                                               \
    size_t length_ = make_file(file_, version, header, data, sizeof data - 1);                     \
    check(__LINE__, file_, length_, dtype, rank, dims, sum, part);                                 \
  } while (0)
#define READS(version, header, data, dtype, rank, dims, sum)                                       \
  CHECK(version, header, data, dtype, rank, dims, sum, "")
#define FAILS(version, header, data, dtype, rank, dims, part)                                      \
  CHECK(version, header, data, dtype, rank, dims, NAN, part)

static const int64_t two[] = {2}, two_three[] = {2, 3}, three_two[] = {3, 2};
#define PLAIN "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }\n"
#define FORTRAN "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }  \n"
#define SIX "\1\2\3\4\5\6"

static void reading(void) {
  READS(1, PLAIN, SIX, IR_I8, 2, two_three, 654321);
  READS(2, FORTRAN, SIX, IR_I8, 2, two_three, 642531);
  READS(3, "{\"shape\": (2,3),\"fortran_order\":False, \"descr\":\"|i1\"}", SIX, IR_I8, 2,
        two_three, 654321);
  READS(1, "{'descr': '|V2', 'fortran_order': False, 'shape': (), }\n", "\x80\x3f", IR_BF16, 0,
        NULL, 1);
  READS(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }\n", "\x80\x3f\0\x40", IR_BF16,
        1, two, 21);
  READS(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }\n", "\1\0", IR_I1, 1, two, 1);
}

static void errors(void) {
  for (int version = 1; version <= 2; version++) {
    char file[512];
    size_t length = make_file(file, version, version == 1 ? PLAIN : FORTRAN, SIX, 6);
    for (size_t n = 0; n < length; n++)
      check(__LINE__, file, n, IR_I8, 2, two_three, NAN, "x.npy: ");
  }
  FAILS(1, PLAIN, SIX, IR_I8, 2, three_two, "shape (2x3), wanted (3x2)");
  FAILS(1, PLAIN, SIX, IR_F32, 2, two_three, "elements '|i1', wanted '<f4' (f32)");
  FAILS(1, PLAIN, SIX, IR_UI8, 2, two_three, "elements '|i1', wanted '|u1'");
  FAILS(1, PLAIN, SIX SIX, IR_I8, 2, two_three, "12 bytes of data");
  FAILS(9, PLAIN, SIX, IR_I8, 2, two_three, "version 9");
  FAILS(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }\n", "\1\7", IR_I1, 1, two,
        "a bool of 7");
  FAILS(1, "{'descr': '|i1', 'fortran_order': False, 'shape': (99999999999999999999,), }\n", "",
        IR_I8, 1, two, "malformed");
  FAILS(1, "{'descr': '|i1', 'fortran_order': False, 'shape': (2, }\n", SIX, IR_I8, 1, two,
        "malformed");
  FAILS(1, "{'descr': '|i1', 'shape': (2,) }\n", SIX, IR_I8, 1, two, "malformed");
  check(__LINE__, "PK\3\4 something else", 18, IR_I8, 2, two_three, NAN, "not an .npy file");
}

static weir_status round_trip(void *user) {
  ctx *c = user;
  arena *a = arena_create(c);
  char path[] = "/tmp/weir-npy-XXXXXX";
  int file = mkstemp(path);
  if (file < 0) return ctx_error(c, WEIR_INTERNAL, "no temporary file");
  close(file);
  ref_tensor t = ref_tensor_new(a, IR_F64, 2, two_three), back;
  for (int64_t i = 0; i < 6; i++) ref_store(&t, i, (ref_scalar){.f = (double)i / 3});
  ir_type_data want = {.kind = IR_TYPE_TENSOR, .dtype = IR_F64, .rank = 2, .dims = two_three};
  weir_status status = ref_npy_write(c, path, &t);
  if (status == WEIR_OK) status = ref_npy_read(a, path, &want, &back);
  unlink(path);
  if (status == WEIR_OK && memcmp(t.data, back.data, 6 * sizeof(double)))
    return ctx_error(c, WEIR_INTERNAL, "other elements came back");
  return status;
}

int main(void) {
  reading();
  errors();
  ctx c;
  ctx_init(&c);
  if (ctx_try(&c, round_trip, &c) != WEIR_OK) {
    fprintf(stderr, "%s\n", c.message);
    failures++;
  }
  ctx_deinit(&c);
  return failures != 0;
}
