/* A page of HTML that shows plans: one file, with all that it needs inside. */
#ifndef WEIR_OUT_PAGE_H
#define WEIR_OUT_PAGE_H
#include "base/strbuf.h"

typedef struct out_page_file { /* of src/out/page, as CMakeLists.txt puts them into the library */
  const char *name;
  const unsigned char *bytes;
  size_t length;
} out_page_file;
extern const out_page_file out_page_files[]; /* the last has no name */

/* title: plain text. plans: JSON as json.h writes it, a list of {"title", "plan"}. */
void out_page(strbuf *out, const char *title, const char *plans);

#endif
