// Tables whose rows are sharded, read and added to at places that data names: each device does so
// for the places in its slice. What is read is a part of a sum.
// RUN: %weir opt %s --pass=per-device | FileCheck %s

// CHECK:      "sdy.manual_computation"
// CHECK:      ({{.*}}: tensor<8x6xf32>, [[I:%.*]]: tensor<10x1xi32>, {{.*}}: tensor<10x6xf32>, {{.*}})
// CHECK:      [[ID:%.*]] = "stablehlo.partition_id"
// CHECK:      [[EACH:%.*]] = "stablehlo.constant"() <{value = dense<8> : tensor<i64>}>
// CHECK-NEXT: [[FROM:%.*]] = "stablehlo.multiply"({{.*}}, [[EACH]])
// CHECK:      [[READ:%.*]] = "stablehlo.gather"({{.*}}slice_sizes = array<i64: 1, 6>}> : (tensor<8x6xf32>, tensor<10x1xi64>) -> tensor<10x6xf32>
// CHECK-NEXT: [[PART:%.*]] = "stablehlo.select"({{.*}}, [[READ]],
// CHECK:      "stablehlo.all_reduce"([[PART]])
// CHECK:      "stablehlo.scatter"({{.*}}
// CHECK:      (tensor<8x6xf32>, tensor<10x1xi64>, tensor<10x6xf32>) -> tensor<8x6xf32>
//   Windows of two rows, which lie on two devices; places that can't be counted on: read whole.
// CHECK:      "stablehlo.all_gather"
// CHECK:      "stablehlo.gather"({{.*}} : (tensor<32x6xf32>, tensor<10x1xi32>) -> tensor<10x2x6xf32>
// CHECK:      "stablehlo.gather"({{.*}} : (tensor<32x6xf32>, tensor<10x1xui64>) -> tensor<10x6xf32>
// CHECK:      "sdy.return"
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["d"=4]>
  func.func public @main(%w: tensor<32x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %i: tensor<10x1xi32>, %u: tensor<10x6xf32>, %j: tensor<10x1xui64>) -> (tensor<10x6xf32>, tensor<32x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, tensor<10x2x6xf32>, tensor<10x6xf32>) {
    %read = "stablehlo.gather"(%w, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>} : (tensor<32x6xf32>, tensor<10x1xi32>) -> tensor<10x6xf32>
    %once = stablehlo.tanh %read : tensor<10x6xf32>
    %added = "stablehlo.scatter"(%w, %i, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : (tensor<32x6xf32>, tensor<10x1xi32>, tensor<10x6xf32>) -> tensor<32x6xf32>
    %windows = "stablehlo.gather"(%w, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 6>} : (tensor<32x6xf32>, tensor<10x1xi32>) -> tensor<10x2x6xf32>
    %unsigned = "stablehlo.gather"(%w, %j) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>} : (tensor<32x6xf32>, tensor<10x1xui64>) -> tensor<10x6xf32>
    return %once, %added, %windows, %unsigned : tensor<10x6xf32>, tensor<32x6xf32>, tensor<10x2x6xf32>, tensor<10x6xf32>
  }
}
