// Every rule. To add one: its declaration, and its line in the table. The order matters: time that
// two rules claim goes to the first, so what explains a cause stands before what describes a
// symptom.
#include <algorithm>

#include "rules/rule.h"

namespace fathom {

Rule activations_dominate();
Rule allocator_activity();
Rule anomaly_mode();
Rule autocast_casts();
Rule bias_before_norm();
Rule blocked_event_loop();
Rule buffer_broadcasts();
Rule conv_layout();
Rule copy_round_trips();
Rule cpu_bound();
Rule cpu_created_tensors();
Rule cpu_governor();
Rule cpu_limit();
Rule cuda_graph_inference();
Rule data_loader_workers();
Rule data_loading();
Rule dense_embedding_gradients();
Rule dequantised_weights();
Rule dominant_phase();
Rule exposed_communication();
Rule exposed_copies();
Rule fp64();
Rule fusable_elementwise();
Rule gil_contention();
Rule growing_tensors();
Rule host_bound();
Rule host_work_between_launches();
Rule hot_kernel();
Rule io_bound_loader();
Rule late_rank();
Rule launch_shape();
Rule layout_copies();
Rule lock_contention();
Rule low_occupancy();
Rule memory_capacity();
Rule memory_fragmentation();
Rule memory_growth();
Rule memory_pressure();
Rule model_cost();
Rule neighbour();
Rule norm_folding();
Rule one_hot_products();
Rule optimizer_memory();
Rule pageable_copies();
Rule placement();
Rule prefill_decode();
Rule profiler_overhead();
Rule profiling_mistakes();
Rule python_loop();
Rule recompilation();
Rule recomputation();
Rule redundant_ops();
Rule repeated_backward();
Rule serial_part();
Rule shape_alignment();
Rule small_batch();
Rule small_channels();
Rule small_collectives();
Rule small_copies();
Rule step_outliers();
Rule sync_points();
Rule tensor_cores_unused();
Rule throttling();
Rule too_few_cores();
Rule unfused_attention();
Rule unfused_optimizer();
Rule waiting();
Rule warmup_in_window();
Rule zero_grad();

std::span<const Rule> all_rules() {
  static const Rule table[] = {
      memory_capacity(),
      memory_fragmentation(),
      activations_dominate(),
      optimizer_memory(),
      memory_growth(),
      memory_pressure(),
      cpu_limit(),
      io_bound_loader(),
      data_loader_workers(),
      data_loading(),
      allocator_activity(),
      recompilation(),
      anomaly_mode(),
      late_rank(),
      throttling(),
      cpu_created_tensors(),
      sync_points(),
      pageable_copies(),
      copy_round_trips(),
      small_copies(),
      placement(),
      host_work_between_launches(),
      buffer_broadcasts(),
      small_collectives(),
      exposed_communication(),
      repeated_backward(),
      dense_embedding_gradients(),
      zero_grad(),
      unfused_optimizer(),
      python_loop(),
      redundant_ops(),
      growing_tensors(),
      one_hot_products(),
      unfused_attention(),
      conv_layout(),
      bias_before_norm(),
      norm_folding(),
      fp64(),
      shape_alignment(),
      tensor_cores_unused(),
      autocast_casts(),
      dequantised_weights(),
      layout_copies(),
      exposed_copies(),
      fusable_elementwise(),
      recomputation(),
      hot_kernel(),
      launch_shape(),
      low_occupancy(),
      small_channels(),
      model_cost(),
      cuda_graph_inference(),
      host_bound(),
      small_batch(),
      dominant_phase(),
      prefill_decode(),
      step_outliers(),
      warmup_in_window(),
      too_few_cores(),
      gil_contention(),
      lock_contention(),
      blocked_event_loop(),
      serial_part(),
      cpu_bound(),
      waiting(),
      neighbour(),
      cpu_governor(),
      profiler_overhead(),
      profiling_mistakes(),
  };
  return table;
}

const Rule* find_rule(std::string_view id) {
  const std::span<const Rule> rules = all_rules();
  const auto at = std::ranges::find(rules, id, &Rule::id);
  return at == rules.end() ? nullptr : &*at;
}

}  // namespace fathom
