// Parts of comparisons in JSON.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "compare/comparison.h"
#include "compare/target.h"

namespace fathom {

/// A member: two numbers, or null.
void write_bounds(JsonWriter& json, std::string_view key, const std::optional<Bounds>& bounds);
/// An object.
void write_side(JsonWriter& json, const ComparedSide& side);
/// The member "differs".
void write_differs(JsonWriter& json, const std::vector<ComparedCondition>& conditions);
/// The members "differs" and "counters".
void write_conditions(JsonWriter& json, const Comparison& pair);
/// The member "target": null without one.
void write_target(JsonWriter& json, const std::optional<Target>& target,
                  const std::optional<TargetProgress>& progress);

}  // namespace fathom
