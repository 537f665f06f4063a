/* Text that is kept as text: dialect attributes, unknown types, locations; and the aliases that may
 * stand in it.
 *
 * Aliases: all definitions that begin a line are noted before parsing starts, since locations are
 * defined behind their uses; each is read when it is first used. Where an alias stands in kept text
 * it is replaced by its own text (a location alias by what stands between its parentheses).
 */
#include "in/parser.h"

/* Chains of location aliases (#loc9 = callsite(#loc8 at #loc7), ...) can double in length at each
 * step: beyond these bounds (of one, of all) a location is forgotten. Other aliases may not expand
 * to more than the last bound. */
enum {
  MAX_LOCATION_BYTES = 1 << 16,
  MAX_LOCATIONS_BYTES = 1 << 28,
  MAX_EXPANSION_BYTES = 16 << 20
};

static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

static const char *skip_blanks(const char *s, const char *to) {
  for (; s < to; s++) {
    if (is_blank(*s)) continue;
    if (*s != '/' || s + 1 >= to || s[1] != '/') return s;
    while (s < to && *s != '\n') s++;
    if (s == to) return s;
  }
  return s;
}

static const char *skip_string(const char *s,
                               const char *to) { /* the lexer has seen that it ends */
  for (s++; s < to && *s != '"'; s++)
    if (*s == '\\') s++;
  return s < to ? s + 1 : to;
}

/* The definition of the alias whose use begins at s; NULL if it is none (a dialect attribute, or
 * not defined). *out_end: behind the name. */
static in_alias *alias_at(in_parser *p, const char *s, const char *to, const char **out_end) {
  const char *name = s + 1, *end = name;
  while (end < to && in_is_suffix_char((unsigned char)*end) &&
         !(*end == '-' && end + 1 < to && end[1] == '>'))
    end++;
  *out_end = end;
  if (end == name || memchr(name, '.', (size_t)(end - name))) return NULL;
  const char *next = skip_blanks(end, to);
  return next < to && *next == '<' ? NULL : in_alias_find(p, *s, name, (size_t)(end - name));
}

void in_verbatim(in_parser *p, const char *from, const char *to, strbuf *out) {
  const char *s = skip_blanks(from, to), *kept = s, *end;
  while (s < to) {
    if (*s == '"') {
      s = skip_string(s, to);
    } else if (is_blank(*s) || (*s == '/' && s + 1 < to && s[1] == '/')) {
      const char *next = skip_blanks(s, to);
      if (next != s + 1 || *s != ' ' || next == to) {
        strbuf_add(out, kept, (size_t)(s - kept));
        if (next < to) strbuf_putc(out, ' ');
        kept = next;
      }
      s = next;
    } else if (*s == '#' || *s == '!') {
      in_alias *alias = alias_at(p, s, to, &end);
      if (alias) {
        in_alias_read(p, alias, *s);
        strbuf_add(out, kept, (size_t)(s - kept));
        strbuf_add(out, ir_text(p->m, alias->text), ir_text_length(p->m, alias->text));
        if (out->length > MAX_EXPANSION_BYTES)
          in_fail(p, s, "aliases that expand to more than %d bytes", MAX_EXPANSION_BYTES);
        kept = end;
      }
      s = end;
    } else {
      s++;
    }
  }
  strbuf_add(out, kept, (size_t)(to - kept));
}

/* Most text has nothing to normalise: no alias, no run of blanks, no line end. */
static bool is_plain(const char *from, const char *to) {
  for (const char *s = from; s < to; s++) {
    if (*s == '#' || *s == '!' || *s == '\n' || *s == '\t' || *s == '\r') return false;
    if (*s == '"') s = skip_string(s, to) - 1;
    else if (*s == ' ' && (s == from || s + 1 == to || s[1] == ' ')) return false;
    else if (*s == '/' && s + 1 < to && s[1] == '/') return false;
  }
  return true;
}

ir_str in_verbatim_str(in_parser *p, const char *from, const char *to) {
  if (is_plain(from, to)) return ir_intern_text(p->m, from, (size_t)(to - from));
  strbuf b = strbuf_make(p->scratch);
  in_verbatim(p, from, to, &b);
  return ir_intern_text(p->m, b.text, b.length);
}

/* ---- aliases: pointers to them stay good, for new ones are only added at the top level ---- */
static in_alias *add_alias(in_parser *p, char sigil, const char *name, size_t length,
                           const char *value) {
  in_names_put(p->scratch, &p->alias_names[sigil == '!'], name, length, p->aliases.count, 1);
  VEC_PUSH(p->scratch, &p->aliases, (in_alias){.value = value});
  return &p->aliases.at[p->aliases.count - 1];
}

in_alias *in_alias_find(in_parser *p, char sigil, const char *name, size_t length) {
  const in_name *e = in_names_find(&p->alias_names[sigil == '!'], name, length);
  return e ? &p->aliases.at[e->id] : NULL;
}

static void find_alias(in_parser *p, const char *line) {
  const char *name = line + 1, *end = name;
  while (end < p->end && in_is_suffix_char((unsigned char)*end)) end++;
  const char *equals = skip_blanks(end, p->end);
  if (end == name || equals >= p->end || *equals != '=' || memchr(name, '.', (size_t)(end - name)))
    return;
  if (!in_alias_find(p, *line, name, (size_t)(end - name)))
    add_alias(p, *line, name, (size_t)(end - name), equals + 1);
}

static void read_value(in_parser *p, in_alias *alias, char sigil) {
  in_seek(p, alias->value);
  const char *from = p->token.at;
  if (sigil == '!') {
    alias->type = in_type(p);
  } else if (in_is_location(p)) {
    alias->text = in_location(p);
    return;
  } else {
    alias->attr = in_attribute(p);
  }
  alias->text = in_verbatim_str(p, from, p->last);
}

static void read_alias(in_parser *p, in_alias *alias, char sigil) {
  in_token token = p->token;
  const char *next = p->next, *last = p->last;
  int deepest = p->deepest;
  if (alias->reading) in_fail(p, alias->value, "an alias that is defined in terms of itself");
  alias->reading = true;
  p->deepest = p->depth;
  in_enter(p);
  read_value(p, alias, sigil);
  in_leave(p);
  alias->height = p->deepest - p->depth;
  CTX_CHECK(p->ctx, alias->height > 0);
  alias->end = p->last;
  p->token = token, p->next = next, p->last = last, p->deepest = deepest;
}

void in_alias_read(in_parser *p, in_alias *alias, char sigil) {
  if (!alias->end) read_alias(p, alias, sigil);
  if (alias->attr || alias->type) in_reach(p, p->depth + alias->height);
}

/* MLIR prints locations behind their uses but in an order in which each is made of earlier ones:
 * read in that order no chain is a deep one. */
void in_find_aliases(in_parser *p) {
  for (const char *s = p->begin; s && s < p->end; s++) {
    if (*s == '#' || *s == '!') find_alias(p, s);
    s = memchr(s, '\n', (size_t)(p->end - s));
    if (!s) break;
  }
  for (uint32_t i = 0; i < p->aliases.count; i++) {
    const char *value = skip_blanks(p->aliases.at[i].value, p->end);
    if (p->end - value > 4 && !memcmp(value, "loc(", 4)) in_alias_read(p, &p->aliases.at[i], '#');
  }
}

void in_alias_definition(in_parser *p) {
  char sigil = *p->token.at;
  const char *name = p->token.at + 1, *at = p->token.at;
  size_t length = p->token.length - 1;
  in_next(p);
  if (!in_is(p, '=')) in_fail_wanted(p, "'=' of an alias definition");
  in_alias *alias = in_alias_find(p, sigil, name, length);
  if (!alias) alias = add_alias(p, sigil, name, length, p->next);
  if (alias->value != p->next)
    in_fail(p, at, "the alias '%.*s' is defined twice", (int)length, name);
  in_alias_read(p, alias, sigil);
  in_seek(p, alias->end);
}

/* ---- locations ---- */
static ir_str location_text(in_parser *p, const char *from, const char *to) {
  if (is_plain(from, to)) return ir_intern_text(p->m, from, (size_t)(to - from));
  strbuf b = strbuf_make(p->scratch);
  in_verbatim(p, from, to, &b);
  if (b.length > MAX_LOCATION_BYTES || (p->location_bytes += b.length) > MAX_LOCATIONS_BYTES)
    return ir_intern_string(p->m, "unknown");
  return ir_intern_text(p->m, b.text, b.length);
}

ir_str in_location(in_parser *p) {
  in_expect_word(p, "loc");
  if (!in_is(p, '(')) in_fail_wanted(p, "'(' of a location");
  const char *open = p->token.at, *end = in_skip_balanced(p, open);
  ir_str text = location_text(p, open + 1, end - 1);
  in_skip_to(p, end);
  return text;
}
