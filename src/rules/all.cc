// Every rule. To add one: its declaration, and its line in the table. The order matters: time that
// two rules claim goes to the first, so what explains a cause stands before what describes a
// symptom.
#include <algorithm>

#include "rules/rule.h"

namespace fathom {

Rule bias_before_norm();
Rule conv_layout();
Rule data_loading();
Rule dominant_phase();
Rule fp64();
Rule fusable_elementwise();
Rule host_bound();
Rule hot_kernel();
Rule launch_shape();
Rule layout_copies();
Rule memory_capacity();
Rule memory_fragmentation();
Rule shape_alignment();
Rule sync_points();
Rule tensor_cores_unused();
Rule unfused_attention();
Rule unfused_optimizer();

std::span<const Rule> all_rules() {
  static const Rule table[] = {
      memory_capacity(),
      memory_fragmentation(),
      data_loading(),
      sync_points(),
      unfused_optimizer(),
      unfused_attention(),
      conv_layout(),
      bias_before_norm(),
      fp64(),
      shape_alignment(),
      tensor_cores_unused(),
      layout_copies(),
      fusable_elementwise(),
      hot_kernel(),
      launch_shape(),
      host_bound(),
      dominant_phase(),
  };
  return table;
}

const Rule* find_rule(std::string_view id) {
  const std::span<const Rule> rules = all_rules();
  const auto at = std::ranges::find(rules, id, &Rule::id);
  return at == rules.end() ? nullptr : &*at;
}

}  // namespace fathom
