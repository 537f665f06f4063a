// Limits that hold need not lie side by side: slices follow from the limit, and so does what passes take
// for small. What holds under a smaller limit holds under a larger one.
//
// RUN: %weir opt %s --tile off --memory-limit 996 -o %t.996
// RUN: %weir opt %s --tile off --memory-limit 1100 -o %t.1100
// RUN: %weir opt %s --tile off --memory-limit 1245 -o %t.1245
// RUN: %weir opt %s --tile off --memory-limit 2490 -o %t.2490

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<5x5x5xi8>, tensor<16xui8>, tensor<8xf32>, tensor<5xi32>, tensor<i32>, tensor<i32>) -> (tensor<16xui8>, tensor<4x2xf32>, tensor<ui8>, tensor<5xi32>, tensor<8xf32>), sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<5x5x5xi8>, %arg1: tensor<16xui8>, %arg2: tensor<8xf32>, %arg3: tensor<5xi32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
    %0 = "stablehlo.add"(%arg2, %arg2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1:3 = "stablehlo.case"(%arg4) ({
      "stablehlo.return"(%arg2, %arg4, %arg1) : (tensor<8xf32>, tensor<i32>, tensor<16xui8>) -> ()
    }, {
      "stablehlo.return"(%0, %arg4, %arg1) : (tensor<8xf32>, tensor<i32>, tensor<16xui8>) -> ()
    }) : (tensor<i32>) -> (tensor<8xf32>, tensor<i32>, tensor<16xui8>)
    %2 = "stablehlo.case"(%arg5) ({
      "stablehlo.return"(%arg2) : (tensor<8xf32>) -> ()
    }, {
      "stablehlo.return"(%1#0) : (tensor<8xf32>) -> ()
    }) : (tensor<i32>) -> tensor<8xf32>
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<4x2xf32>}> : () -> tensor<4x2xf32>
    %4 = "stablehlo.constant"() <{value = dense<0> : tensor<16xui8>}> : () -> tensor<16xui8>
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<5xi32>}> : () -> tensor<5xi32>
    %6 = "stablehlo.constant"() <{value = dense<0> : tensor<ui8>}> : () -> tensor<ui8>
    "func.return"(%4, %3, %6, %5, %2) : (tensor<16xui8>, tensor<4x2xf32>, tensor<ui8>, tensor<5xi32>, tensor<8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
