// Options by name and text, as a command line or an address has them, and what tables and diagnosis
// share of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/structure/selection.h"
#include "base/result.h"
#include "engine/query/quantity.h"

namespace fathom {

/// Names without dashes ("steps") and values, in their order; some may be given several times.
using TypedOptions = std::vector<std::pair<std::string, std::string>>;

/// A whole number of at least `smallest`.
Result<std::int64_t> parse_whole(std::string_view text, std::int64_t smallest);
/// "true" or "1", "false" or "0".
Result<bool> parse_switch(std::string_view text);
/// "a,b" as its words; empty ones are left out.
std::vector<std::string> split_commas(std::string_view text);

/// Where steps, device and window go; an option whose place is null is not taken.
struct SelectionPlaces {
  std::optional<Selection::StepRange>* steps = nullptr;
  std::optional<std::int32_t>* device = nullptr;
  std::optional<WindowRequest>* window = nullptr;
};
/// Takes one of these options; false for any other. Errors name the option.
Result<bool> take_selection(std::string_view name, const std::string& text,
                            const SelectionPlaces& places);

/// The same the other way round: options that take_selection() understands as this.
TypedOptions selection_options(const std::optional<Selection::StepRange>& steps,
                               const std::optional<std::int32_t>& device,
                               const std::optional<WindowRequest>& window);

/// "there is no option 'x'".
Error unknown_option(std::string_view name);

}  // namespace fathom
