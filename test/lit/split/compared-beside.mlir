// What is compared with its rows' largest has a part less its own largest, as a mixture's weights have: nothing that
// trips make is in that part, so rows are made and compared in one loop. Where it is the largest of what trips slice,
// what is compared stays whole.
// RUN: %weir opt %s --tensor-size-threshold 20kB --debug 3 -o /dev/null 2>&1 | grep "weir: split" | FileCheck %s
// CHECK-DAG: extent 1000, {{.*}} 1 stages, {{.*}} held 0
// CHECK-DAG: extent 1200, {{.*}} 2 stages, {{.*}} held 192000
module {
  func.func public @main(%x: tensor<1000xf64>, %y: tensor<20xf64>, %w: tensor<20xf64>, %x2: tensor<1200xf64>, %y2: tensor<20xf64>) -> (tensor<20xf64>, tensor<20xf64>) {
    %low = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %m = stablehlo.reduce(%w init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<20xf64>, tensor<f64>) -> tensor<f64>
    %ms = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f64>) -> tensor<20xf64>
    %v = stablehlo.subtract %w, %ms : tensor<20xf64>
    %vs = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<20xf64>) -> tensor<1000x20xf64>
    %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1000xf64>) -> tensor<1000x20xf64>
    %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<20xf64>) -> tensor<1000x20xf64>
    %p = stablehlo.multiply %xs, %ys : tensor<1000x20xf64>
    %s = stablehlo.add %vs, %p : tensor<1000x20xf64>
    %r = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<1000x20xf64>, tensor<f64>) -> tensor<1000xf64>
    %rs = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<1000xf64>) -> tensor<1000x20xf64>
    %c = stablehlo.compare EQ, %s, %rs : (tensor<1000x20xf64>, tensor<1000x20xf64>) -> tensor<1000x20xi1>
    %g = stablehlo.convert %c : (tensor<1000x20xi1>) -> tensor<1000x20xf64>
    %q = stablehlo.multiply %g, %xs : tensor<1000x20xf64>
    %o = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1000x20xf64>, tensor<f64>) -> tensor<20xf64>
    %m2 = stablehlo.reduce(%x2 init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<1200xf64>, tensor<f64>) -> tensor<f64>
    %ms2 = stablehlo.broadcast_in_dim %m2, dims = [] : (tensor<f64>) -> tensor<20xf64>
    %v2 = stablehlo.subtract %w, %ms2 : tensor<20xf64>
    %vs2 = stablehlo.broadcast_in_dim %v2, dims = [1] : (tensor<20xf64>) -> tensor<1200x20xf64>
    %xs2 = stablehlo.broadcast_in_dim %x2, dims = [0] : (tensor<1200xf64>) -> tensor<1200x20xf64>
    %ys2 = stablehlo.broadcast_in_dim %y2, dims = [1] : (tensor<20xf64>) -> tensor<1200x20xf64>
    %p2 = stablehlo.multiply %xs2, %ys2 : tensor<1200x20xf64>
    %s2 = stablehlo.add %vs2, %p2 : tensor<1200x20xf64>
    %r2 = stablehlo.reduce(%s2 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<1200x20xf64>, tensor<f64>) -> tensor<1200xf64>
    %rs2 = stablehlo.broadcast_in_dim %r2, dims = [0] : (tensor<1200xf64>) -> tensor<1200x20xf64>
    %c2 = stablehlo.compare EQ, %s2, %rs2 : (tensor<1200x20xf64>, tensor<1200x20xf64>) -> tensor<1200x20xi1>
    %g2 = stablehlo.convert %c2 : (tensor<1200x20xi1>) -> tensor<1200x20xf64>
    %q2 = stablehlo.multiply %g2, %xs2 : tensor<1200x20xf64>
    %o2 = stablehlo.reduce(%q2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1200x20xf64>, tensor<f64>) -> tensor<20xf64>
    return %o, %o2 : tensor<20xf64>, tensor<20xf64>
  }
}
