"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x1xf32>) -> (), sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<1x1xf32>):
    %0 = "stablehlo.while"(%arg0) ({
    ^bb0(%arg1: tensor<1x1xf32>):
      %1 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      "stablehlo.return"(%1) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg2: tensor<1x1xf32>):
      "stablehlo.return"(%arg2) : (tensor<1x1xf32>) -> ()
    }) : (tensor<1x1xf32>) -> tensor<1x1xf32>
    "stablehlo.custom_call"(%0) <{call_target_name = "callback", has_side_effect = true}> : (tensor<1x1xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
