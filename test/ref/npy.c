/* See npy.h. Source: numpy.lib.format's documentation. */
#include "ref/npy.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"

/* ---- element types ---- */
/* '<f4' of an element type, as NumPy without extensions can read it. */
static const char *descriptor(ir_dtype dtype) {
  switch (dtype) {
    case IR_I1: return "|b1";
    case IR_I2:
    case IR_I4:
    case IR_I8: return "|i1";
    case IR_I16: return "<i2";
    case IR_I32: return "<i4";
    case IR_I64:
    case IR_INDEX: return "<i8";
    case IR_UI16:
    case IR_BF16: return "<u2";
    case IR_UI32: return "<u4";
    case IR_UI64: return "<u8";
    case IR_F16: return "<f2";
    case IR_F32: return "<f4";
    case IR_F64: return "<f8";
    case IR_C64: return "<c8";
    case IR_C128: return "<c16";
    default: return "|u1";
  }
}

/* Types that NumPy knows by extension only may also come as plain bytes: '|V2', '|V1'. */
static bool descriptor_fits(ir_dtype dtype, const char *text, size_t n) {
  const char *want = descriptor(dtype);
  if (n < 3) return false;
  if (n == strlen(want) && !strncmp(text + 1, want + 1, n - 1))
    return text[0] == want[0] || (want[2] == '1' && n == 3);
  bool extension = ir_dtype_class_of(dtype) == IR_CLASS_FLOAT && (want[1] == 'u');
  return extension && n == 3 && text[1] == 'V' && text[2] == want[2];
}

/* ---- the header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ---- */
typedef struct header {
  const char *descr;
  size_t n_descr;
  bool fortran;
  int32_t rank;
  int64_t dims[IR_MAX_RANK];
} header;

static const char *find_value(const char *text, const char *end, const char *key) {
  size_t n = strlen(key);
  for (const char *p = text; p + n + 2 < end; p++)
    if ((*p == '\'' || *p == '"') && !strncmp(p + 1, key, n) && p[n + 1] == *p) {
      p += n + 2;
      while (p < end && (*p == ' ' || *p == ':')) p++;
      return p < end ? p : NULL;
    }
  return NULL;
}

static bool read_shape(const char *p, const char *end, header *h) {
  if (*p++ != '(') return false;
  for (h->rank = 0;; h->rank++) {
    while (p < end && (*p == ' ' || *p == ',')) p++;
    if (p >= end) return false;
    if (*p == ')') return true;
    if (*p < '0' || *p > '9' || h->rank == IR_MAX_RANK) return false;
    int64_t size = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
      if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, *p - '0', &size))
        return false;
    if (p < end && *p == 'L') p++;
    h->dims[h->rank] = size;
  }
}

static bool read_header(const char *text, size_t length, header *h) {
  const char *end = text + length, *descr = find_value(text, end, "descr"),
             *order = find_value(text, end, "fortran_order");
  const char *shape = find_value(text, end, "shape");
  if (!descr || !order || !shape || (*descr != '\'' && *descr != '"')) return false;
  const char *close = memchr(descr + 1, *descr, (size_t)(end - descr - 1));
  if (!close || end - order < 5) return false;
  h->descr = descr + 1, h->n_descr = (size_t)(close - descr - 1);
  h->fortran = !strncmp(order, "True", 4);
  return (h->fortran || !strncmp(order, "False", 5)) && read_shape(shape, end, h);
}

/* ---- reading ---- */
static weir_status check_shape(arena *a, const char *name, const header *h,
                               const ir_type_data *want) {
  bool same = h->rank == want->rank;
  strbuf have = strbuf_make(a), wanted = strbuf_make(a);
  for (int32_t d = 0; d < h->rank; d++)
    strbuf_printf(&have, "%s%lld", d ? "x" : "", (long long)h->dims[d]);
  for (int32_t d = 0; d < want->rank; d++)
    strbuf_printf(&wanted, "%s%lld", d ? "x" : "", (long long)want->dims[d]);
  for (int32_t d = 0; same && d < h->rank; d++) same = h->dims[d] == want->dims[d];
  if (same) return WEIR_OK;
  return ctx_error(arena_ctx(a), WEIR_INVALID_ARGUMENT, "%s: shape (%s), wanted (%s)", name,
                   h->rank ? have.text : "", want->rank ? wanted.text : "");
}

static void copy_fortran(ref_tensor *out, const char *data) {
  size_t bytes = (size_t)ir_dtype_bytes(out->dtype);
  int64_t index[IR_MAX_RANK] = {0};
  for (int64_t i = 0, n = ref_element_count(out); i < n; i++) {
    int64_t at = 0;
    for (int32_t d = out->rank - 1; d >= 0; d--) at = at * out->dims[d] + index[d];
    memcpy((char *)out->data + (size_t)i * bytes, data + (size_t)at * bytes, bytes);
    for (int32_t d = out->rank - 1; d >= 0 && ++index[d] == out->dims[d]; d--) index[d] = 0;
  }
}

weir_status ref_npy_parse(arena *a, const char *name, const char *bytes, size_t length,
                          const ir_type_data *want, ref_tensor *out) {
  ctx *c = arena_ctx(a);
  header h = {0};
  if (length < 10 || memcmp(bytes, "\x93NUMPY", 6))
    return ctx_error(c, WEIR_INVALID_ARGUMENT, "%s: not an .npy file", name);
  int version = (unsigned char)bytes[6];
  if (version < 1 || version > 3 || (version > 1 && length < 12))
    return ctx_error(c, WEIR_INVALID_ARGUMENT, "%s: .npy version %d, wanted 1 to 3", name, version);
  size_t start = version == 1 ? 10 : 12, n_header = 0;
  for (size_t i = start; i-- > 8;) n_header = n_header << 8 | (unsigned char)bytes[i];
  if (n_header > length - start || !read_header(bytes + start, n_header, &h))
    return ctx_error(c, WEIR_INVALID_ARGUMENT, "%s: malformed .npy header", name);
  if (want->kind != IR_TYPE_TENSOR || !want->dtype)
    return ctx_error(c, WEIR_UNIMPLEMENTED, "%s: an argument that is no tensor of a known type",
                     name);
  if (!descriptor_fits(want->dtype, h.descr, h.n_descr))
    return ctx_error(c, WEIR_INVALID_ARGUMENT, "%s: elements '%.*s', wanted '%s' (%s)", name,
                     (int)h.n_descr, h.descr, descriptor(want->dtype), ir_dtype_name(want->dtype));
  WEIR_TRY(check_shape(a, name, &h, want));
  ref_tensor shape = {.rank = h.rank, .dims = h.dims};
  int64_t size;
  if (__builtin_mul_overflow(ref_element_count(&shape), ir_dtype_bytes(want->dtype), &size) ||
      (uint64_t)size != length - start - n_header)
    return ctx_error(c, WEIR_INVALID_ARGUMENT, "%s: %zu bytes of data, wanted %lld elements", name,
                     length - start - n_header, (long long)ref_element_count(&shape));
  *out = ref_tensor_new(a, want->dtype, h.rank, h.dims);
  CTX_CHECK(c, ref_element_count(out) * ir_dtype_bytes(out->dtype) == size);
  const char *data = bytes + start + n_header;
  if (h.fortran) copy_fortran(out, data);
  else memcpy(out->data, data, (size_t)size);
  for (int64_t i = 0; want->dtype == IR_I1 && i < size; i++)
    if (((unsigned char *)out->data)[i] > 1)
      return ctx_error(c, WEIR_INVALID_ARGUMENT, "%s: a bool of %d", name,
                       ((unsigned char *)out->data)[i]);
  return WEIR_OK;
}

weir_status ref_npy_read(arena *a, const char *path, const ir_type_data *want, ref_tensor *out) {
  ctx *c = arena_ctx(a);
  FILE *file = fopen(path, "rb");
  if (!file) return ctx_error(c, WEIR_NOT_FOUND, "%s: %s", path, strerror(errno));
  long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char *bytes = length >= 0 && length < LONG_MAX ? malloc((size_t)length + 1) : NULL;
  bool whole = bytes && fseek(file, 0, SEEK_SET) == 0 &&
               fread(bytes, 1, (size_t)length, file) == (size_t)length;
  fclose(file);
  weir_status status = whole ? ref_npy_parse(a, path, bytes, (size_t)length, want, out)
                             : ctx_error(c, WEIR_NOT_FOUND, "%s: can't be read", path);
  free(bytes);
  return status;
}

/* ---- writing: version 1.0, data aligned to 64 bytes ---- */
weir_status ref_npy_write(ctx *c, const char *path, const ref_tensor *t) {
  char text[128 + 24 * IR_MAX_RANK], *p = text + 10, *end = text + sizeof text;
  p += snprintf(p, (size_t)(end - p), "{'descr': '%s', 'fortran_order': False, 'shape': (",
                descriptor(t->dtype));
  for (int32_t d = 0; d < t->rank; d++)
    p += snprintf(p, (size_t)(end - p), "%lld,%s", (long long)t->dims[d],
                  d + 1 < t->rank ? " " : "");
  p += snprintf(p, (size_t)(end - p), "), }");
  while ((p - text + 1) % 64) *p++ = ' ';
  *p++ = '\n';
  size_t n_header = (size_t)(p - text) - 10,
         size = (size_t)(ref_element_count(t) * ir_dtype_bytes(t->dtype));
  CTX_CHECK(c, p <= end && n_header <= UINT16_MAX && (n_header + 10) % 64 == 0);
  memcpy(text, "\x93NUMPY\x01\x00", 8);
  text[8] = (char)(n_header & 255), text[9] = (char)(n_header >> 8);
  FILE *file = fopen(path, "wb");
  if (!file) return ctx_error(c, WEIR_NOT_FOUND, "%s: %s", path, strerror(errno));
  bool whole = fwrite(text, 1, (size_t)(p - text), file) == (size_t)(p - text) &&
               fwrite(t->data, 1, size, file) == size;
  if (fclose(file) != 0 || !whole)
    return ctx_error(c, WEIR_RESOURCE_EXHAUSTED, "%s: can't be written whole", path);
  return WEIR_OK;
}
