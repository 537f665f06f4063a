/* Locations of MLIR bytecode, from the text that the IR keeps of them:
 *
 *   unknown, "file":1:2, "file":1:2 to :9, "file":1:2 to 3:4, "name", "name"(loc),
 *   callsite(loc at loc), fused[loc, ...]
 *
 * Parts are shared, as call stacks do. What is none of these (fused with metadata) stays text. */
#include <stdlib.h>

#include "out/bytecode.h"

enum { MAX_DEPTH = 256, NOT_READ = -1 };

typedef struct reading {
  bw *w;
  const char *at;
  int depth;
} reading;

static int64_t location(reading *r);

static bool accept(reading *r, const char *word) {
  size_t n = strlen(word);
  r->at += strspn(r->at, " ");
  if (strncmp(r->at, word, n)) return false;
  r->at += n;
  return true;
}

static bool number(reading *r, uint64_t *out) {
  char *end;
  if (*r->at < '0' || *r->at > '9') return false;
  *out = strtoull(r->at, &end, 10);
  r->at = end;
  return true;
}

/* ---- strings ---- */
static int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Behind a backslash: how many characters stand for one; 0: none that are known. */
static int escaped(const char *s, char *out) {
  static const char names[] = "\"\\nt", meant[] = "\"\\\n\t";
  const char *name = *s ? strchr(names, *s) : NULL;
  if (name) return *out = meant[name - names], 1;
  if (hex(s[0]) < 0 || hex(s[1]) < 0) return 0;
  *out = (char)(hex(s[0]) << 4 | hex(s[1]));
  return 2;
}

/* A string as an attribute. */
static int64_t string(reading *r) {
  strbuf b = strbuf_make(r->w->scratch);
  if (!accept(r, "\"")) return NOT_READ;
  while (*r->at && *r->at != '"') {
    char c = *r->at++;
    int n = c == '\\' ? escaped(r->at, &c) : 0;
    if (r->at[-1] == '\\' && !n) return NOT_READ;
    r->at += n;
    strbuf_putc(&b, c);
  }
  return accept(r, "\"") ? (int64_t)bw_builtin_string(r->w, b.text ? b.text : "", b.length)
                         : NOT_READ;
}

/* ---- locations ---- */
static int64_t put(const reading *r, uint64_t code, const uint64_t *numbers, uint32_t count) {
  strbuf b = strbuf_make(r->w->scratch);
  bw_varint(&b, code);
  for (uint32_t i = 0; i < count; i++) bw_varint(&b, numbers[i]);
  return bw_put_of(r->w, BW_ATTRS, "builtin", true, b.text, b.length);
}

/* Behind the file's name and a colon. A range that ends in its first line does not say it again. */
static int64_t place(reading *r, uint64_t file) {
  uint64_t n[6] = {file, 2};
  if (!number(r, &n[2]) || !accept(r, ":") || !number(r, &n[3])) return NOT_READ;
  if (!accept(r, "to "))
    return put(r, BUILTIN_ATTR_FILE_LINE_COL_LOC, (uint64_t[]){file, n[2], n[3]}, 3);
  bool has_line = number(r, &n[4]);
  if (!accept(r, ":") || !number(r, &n[has_line ? 5 : 4])) return NOT_READ;
  n[1] = has_line ? 4 : 3;
  return put(r, BUILTIN_ATTR_FILE_LINE_COL_RANGE, n, has_line ? 6 : 5);
}

static int64_t named(reading *r) {
  int64_t name = string(r), child;
  if (name == NOT_READ) return NOT_READ;
  if (*r->at == ':') return r->at++, place(r, (uint64_t)name);
  bool has_child = accept(r, "(");
  child = has_child ? location(r) : (int64_t)bw_location(r->w, IR_NONE);
  if (child == NOT_READ || (has_child && !accept(r, ")"))) return NOT_READ;
  return put(r, BUILTIN_ATTR_NAME_LOC, (uint64_t[]){(uint64_t)name, (uint64_t)child}, 2);
}

static int64_t call_site(reading *r) {
  int64_t callee = location(r), caller = accept(r, "at ") ? location(r) : NOT_READ;
  if (callee == NOT_READ || caller == NOT_READ || !accept(r, ")")) return NOT_READ;
  return put(r, BUILTIN_ATTR_CALL_SITE_LOC, (uint64_t[]){(uint64_t)callee, (uint64_t)caller}, 2);
}

static int64_t fused(reading *r) {
  VEC(uint64_t) parts = {0};
  VEC_PUSH(r->w->scratch, &parts, 0);
  for (bool more = !accept(r, "]"); more; more = accept(r, ",")) {
    int64_t part = location(r);
    if (part == NOT_READ) return NOT_READ;
    VEC_PUSH(r->w->scratch, &parts, (uint64_t)part);
  }
  parts.at[0] = parts.count - 1;
  if (parts.count > 1 && !accept(r, "]")) return NOT_READ;
  return put(r, BUILTIN_ATTR_FUSED_LOC, parts.at, parts.count);
}

static int64_t location(reading *r) {
  int64_t number = NOT_READ;
  if (++r->depth <= MAX_DEPTH) {
    if (accept(r, "unknown")) number = put(r, BUILTIN_ATTR_UNKNOWN_LOC, NULL, 0);
    else if (accept(r, "callsite(")) number = call_site(r);
    else if (accept(r, "fused[")) number = fused(r);
    else number = named(r);
  }
  r->depth--;
  return number;
}

uint32_t bw_location(bw *w, ir_str text) {
  if (!w->locations[text]) {
    const char *all = text ? ir_text(w->m, text) : "unknown";
    reading r = {w, all, 0};
    int64_t number = location(&r);
    if (number == NOT_READ || *r.at)
      number = bw_text_entry(w, BW_ATTRS, arena_printf(w->scratch, "loc(%s)", all));
    CTX_CHECK(w->ctx, number >= 0 && number < w->lists[BW_ATTRS].count);
    w->locations[text] = (uint32_t)number + 1;
  }
  return w->locations[text] - 1;
}
