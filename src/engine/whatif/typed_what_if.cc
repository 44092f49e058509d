// Parses the options of a what-if.
#include "engine/whatif/typed_what_if.h"

#include <algorithm>
#include <array>

namespace fathom {
namespace {

struct Switch {
  std::string_view name;
  bool WhatIfRequest::*member;
};
constexpr std::array<Switch, 5> kSwitches = {
    Switch{"remove-syncs", &WhatIfRequest::remove_syncs},
    Switch{"overlap-input", &WhatIfRequest::overlap_input},
    Switch{"launch-once", &WhatIfRequest::launch_once},
    Switch{"pin-copies", &WhatIfRequest::pin_copies},
    Switch{"hide-communication", &WhatIfRequest::hide_communication},
};

struct List {
  std::string_view name;
  std::vector<std::string> WhatIfRequest::*member;
};
constexpr std::array<List, 4> kLists = {
    List{"scale", &WhatIfRequest::scale},
    List{"roof", &WhatIfRequest::roof},
    List{"fuse", &WhatIfRequest::fuse},
    List{"finding", &WhatIfRequest::findings},
};

Result<void> take(const std::string& name, const std::string& text, TypedWhatIf& typed) {
  if (const auto* const list = std::ranges::find(kLists, name, &List::name); list != kLists.end()) {
    (typed.request.*list->member).push_back(text);
    return {};
  }
  if (name == "peaks") {
    Result<DevicePeaks> peaks = DevicePeaks::known(text);
    if (!peaks) return std::move(peaks).error();
    typed.peaks = *std::move(peaks);
    typed.request.peaks = typed.peaks.chosen();
    return {};
  }
  const auto* const found = std::ranges::find(kSwitches, name, &Switch::name);
  if (found == kSwitches.end()) return unknown_option(name);
  const Result<bool> given = parse_switch(text);
  if (!given) return given.error();
  typed.request.*found->member = *given;
  return {};
}

}  // namespace

Result<TypedWhatIf> typed_what_if(const TypedOptions& options) {
  TypedWhatIf typed;
  WhatIfRequest& request = typed.request;
  const SelectionPlaces places{&request.steps, nullptr, &request.window};
  for (const auto& [name, text] : options) {
    Result<bool> taken = take_selection(name, text, places);
    if (!taken) return std::move(taken).error();
    if (*taken) continue;
    Result<void> kept = take(name, text, typed);
    if (!kept) return std::move(kept).error().in("--" + name);
  }
  if (request.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "whatif: name a change, for example scale=aten::mm=0.5 or remove-syncs=true"};
  }
  return typed;
}

}  // namespace fathom
