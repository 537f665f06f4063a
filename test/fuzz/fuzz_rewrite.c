/* libFuzzer target: the whole call on any bytes. The first byte chooses the limit or the threshold.
 * An internal error is a bug; what was rewritten must read and verify; what is read can be drawn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir/weir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void die(const char *what, const char *message) {
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

static void check_rewritten(const weir_result *result) {
  weir_result *again;
  weir_options options = WEIR_OPTIONS_INIT;
  size_t length;
  const char *text = weir_result_text(result, &length);
  if (!text) return;
  options.only_passes = "";
  if (weir_rewrite(text, length, &options, &again) != WEIR_OK)
    die("own output", weir_result_message(again));
  weir_result_destroy(again);
}

static void check_graph(const char *text, size_t length) {
  weir_result *graph;
  weir_program program = {"program", text, length};
  weir_status status = weir_graph(&program, 1, 0, &graph);
  if (status != WEIR_OK) die("graph", weir_result_message(graph));
  weir_result_destroy(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  weir_options options = WEIR_OPTIONS_INIT;
  weir_result *result;
  if (!size) return 0;
  int64_t bytes = (int64_t)1 << (4 + data[0] % 24);
  if (data[0] & 128) options.tensor_size_threshold_bytes = bytes;
  else options.memory_limit_bytes = bytes;
  options.minimum = data[0] & 64 ? WEIR_MINIMUM_NEVER : WEIR_MINIMUM_ALWAYS;
  const char *text = (const char *)data + 1;
  weir_status status = weir_rewrite(text, size - 1, &options, &result);
  if (status == WEIR_INTERNAL) die("weir_rewrite", weir_result_message(result));
  if (status == WEIR_OK) check_rewritten(result);
  if (status == WEIR_OK || status == WEIR_RESOURCE_EXHAUSTED) check_graph(text, size - 1);
  weir_result_destroy(result);
  return 0;
}
