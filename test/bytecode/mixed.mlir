// What only files that mix dialects say: ops and shardings of others between StableHLO's, and every kind of location.
module @mixed attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("a"), %n: tensor<i32>) -> (tensor<4x8xf32> {jax.result_info = "result"}) {
    %root = chlo.erf %a : tensor<4x8xf32> -> tensor<4x8xf32> loc("f.py":3:4)
    %half = "chlo.constant_like"(%root) <{value = 5.000000e-01 : f32}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("f.py":3:4 to :9)
    %same = sdy.sharding_constraint %half <@mesh, [{"x"}, {}]> : tensor<4x8xf32> loc("f.py":3:4 to 5:6)
    %local = sdy.manual_computation(%same) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<2x8xf32>) {
      %twice = stablehlo.add %b, %b : tensor<2x8xf32> loc("add"(callsite("g"("g.py":1:2) at "f"("f.py":3:4))))
      sdy.return %twice : tensor<2x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %call = stablehlo.custom_call @"a \22call\22"(%local, %root) {api_version = 4 : i32, backend_config = {count = 3 : i64, names = ["x", "\00y"], on, scale = 1.5 : f32}, mhlo.frontend_attributes = {a = "b"}} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc(fused["g.py":7:8, "one \22name\\", unknown])
    %case = "stablehlo.case"(%n) ({
      %sin = stablehlo.sine %call {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x8xf32> loc(fused<"why">["g.py":9:1, "g.py":9:2])
      stablehlo.return %sin : tensor<4x8xf32>
    }, {
      stablehlo.return %root : tensor<4x8xf32>
    }) : (tensor<i32>) -> tensor<4x8xf32>
    return %case : tensor<4x8xf32>
  }
}
