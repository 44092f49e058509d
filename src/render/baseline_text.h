// Baselines as text and JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/baseline.h"
#include "render/style.h"

namespace fathom {

struct NamedBaseline {
  std::string path;
  std::size_t bytes = 0;
  SavedBaseline baseline;
};

/// What is in it: when and of what it was saved, step times, counts, conditions, longest rows.
std::string render_baseline_text(const NamedBaseline& named, const Style& style);

/// A line for each.
std::string render_baseline_list(const std::vector<NamedBaseline>& all, const Style& style);
/// Schema fathom.baselines/1: docs/baselines.schema.json.
std::string render_baseline_list_json(const std::vector<NamedBaseline>& all,
                                      std::string_view indent);

}  // namespace fathom
