/* Names with scopes: SSA values and aliases. Entries form a stack; the newest entry of a name hides
 * older ones; leaving a scope drops the top. */
#include "in/parser.h"

#include "base/hash.h"

static void rehash(arena *a, in_names *names) {
  names->n_buckets = names->n_buckets ? names->n_buckets * 2 : 64;
  names->buckets = ARENA_ARRAY(a, uint32_t, names->n_buckets);
  for (uint32_t i = 0; i < names->entries.count; i++) {
    in_name *e = &names->entries.at[i];
    uint32_t *bucket = &names->buckets[e->hash & (names->n_buckets - 1)];
    e->older = *bucket;
    *bucket = i + 1;
  }
}

void in_names_put(arena *a, in_names *names, const char *text, size_t length, uint32_t id,
                  uint32_t count) {
  if (names->entries.count >= names->n_buckets) rehash(a, names);
  uint32_t hash = hash_bytes(HASH_BEGIN, text, length);
  uint32_t *bucket = &names->buckets[hash & (names->n_buckets - 1)];
  VEC_PUSH(a, &names->entries, (in_name){text, (uint32_t)length, hash, *bucket, id, count});
  *bucket = names->entries.count;
}

const in_name *in_names_find(const in_names *names, const char *text, size_t length) {
  if (names->n_buckets == 0) return NULL;
  uint32_t hash = hash_bytes(HASH_BEGIN, text, length);
  for (uint32_t i = names->buckets[hash & (names->n_buckets - 1)]; i;
       i = names->entries.at[i - 1].older) {
    const in_name *e = &names->entries.at[i - 1];
    if (e->hash == hash && e->length == length && !memcmp(e->text, text, length)) return e;
  }
  return NULL;
}

void in_names_drop(in_names *names, uint32_t down_to) {
  while (names->entries.count > down_to) {
    const in_name *e = &names->entries.at[--names->entries.count];
    names->buckets[e->hash & (names->n_buckets - 1)] = e->older;
  }
}
