/* Who computes a convolution on CPUs. Of XLA's sources (PotentiallyImplementedAsEigenConvolution,
 * IsConvolutionOpSupportedByYnn) and measured: docs/design/convolutions.md. */
#ifndef WEIR_IR_CONVOLUTION_H
#define WEIR_IR_CONVOLUTION_H

#include "ir/attrs.h"

typedef enum ir_convolver {
  IR_BY_LOOPS, /* of LLVM's */
  IR_BY_EIGEN, /* XLA's own library */
  IR_BY_YNN,   /* what Eigen has not the types for, if XLA is told so */
} ir_convolver;

/* By its element type. */
bool ir_is_of_eigen(const ir_module *m, ir_op conv);
/* If its dimensions stand in the order that the libraries take, and no window is reversed. n: its
 * dimension numbers. */
ir_convolver ir_convolver_of(const ir_module *m, ir_op conv, const ir_conv_numbers *n);
/* Whether its dimensions stand so, and no window is reversed: inside of whiles XLA leaves both. */
bool ir_conv_stands_so(const ir_module *m, ir_op conv, const ir_conv_numbers *n,
                       const ir_conv_numbers *wanted);
/* Whether XLA is to be told: YNN takes some convolution of the program. */
bool ir_convolves_by_ynn(const ir_module *m);

#endif
