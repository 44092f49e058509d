// The parts of a step, in the order and colour in which text and page show them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

struct StepPart {
  std::string_view id;     ///< CSS class and JSON-like name.
  std::string name;        ///< For people; printable.
  std::string_view glyph;  ///< In a bar of characters.
  Duration time{};
  enum class Hue : unsigned char { good, neutral, bad } hue = Hue::neutral;
};

/// The parts of the counted steps of a diagnosis, with or without a device; parts without time are
/// left out.
std::vector<StepPart> parts_of(const Diagnosis& diagnosis);
/// The same of one step.
std::vector<StepPart> parts_of(const StepAccount& step, bool on_device);

}  // namespace fathom
