// Carries the answers to what sliders, switches and findings of the page can ask one at a time.
#include <array>
#include <string>
#include <utility>

#include "engine/session.h"
#include "server/page_file/parts.h"
#include "server/page_file/question.h"

namespace fathom::server {
namespace {

// As ui/src/views/what_if offers them.
constexpr std::size_t kKernels = 5;
constexpr std::array<std::string_view, 5> kPhases = {"forward", "backward", "optimizer", "data",
                                                     "communication"};
constexpr std::array<std::string_view, 5> kSwitches = {
    "remove-syncs", "overlap-input", "launch-once", "pin-copies", "hide-communication"};
/// A slider goes from 0 to 1 by so many steps.
constexpr int kPlaces = 20;
/// Of the file: beyond, sliders are left out.
constexpr double kShare = 0.5;

/// 0.05 as browsers write it.
std::string factor_text(int place) {
  const int hundredths = 100 * place / kPlaces;
  if (hundredths % 10 != 0)
    return hundredths < 10 ? "0.0" + std::to_string(hundredths) : "0." + std::to_string(hundredths);
  return hundredths == 0 ? "0" : "0." + std::to_string(hundredths / 10);
}

/// Names of a column of a table, from its top.
std::vector<std::string> names_of(const OpenInput& input, std::string_view report,
                                  std::size_t most) {
  Request request;
  request.query.limit = most;
  std::vector<std::string> names;
  const Result<View> view = input.session().run(*find_report(report), request);
  if (!view) return names;
  for (std::size_t column = 0; column < view->columns().size(); ++column) {
    if (view->columns()[column].name != "name") continue;
    for (std::size_t row = 0; row < view->table.rows(); ++row) {
      const Value value = view->table.at(row, column);
      if (const auto* const text = std::get_if<std::string_view>(&value)) names.emplace_back(*text);
    }
  }
  return names;
}

class Sliders {
 public:
  explicit Sliders(Carrier& carrier) : carrier_(carrier) {}

  void carry(const std::string& target, const std::string& shown) {
    if (!carrier_.room(kShare)) {
      complete_ = false;
      return;
    }
    for (int place = 0; place < kPlaces; ++place) {
      const std::string factor = "=" + factor_text(place);
      keep({{"scale", target + factor}}, {{"scale", shown + factor}});
    }
  }

  void carry_finding(const std::string& id) {
    keep({{"finding", id}}, {{"finding", carrier_.shown(id)}});
  }

  [[nodiscard]] bool complete() const { return complete_; }

  void carry_switches() {
    for (std::size_t set = 1; set < std::size_t{1} << kSwitches.size(); ++set) {
      Parameters changes;
      for (std::size_t i = 0; i < kSwitches.size(); ++i) {
        if ((set >> i & 1U) != 0) changes.emplace_back(kSwitches[i], "1");
      }
      keep(changes, changes);
    }
  }

 private:
  void keep(Parameters asked, Parameters shown) {
    const Parameters scope = carrier_.scope("steps window");
    for (Parameters* const some : {&asked, &shown})
      some->insert(some->end(), scope.begin(), scope.end());
    carrier_.keep_as(question("api/whatif", std::move(shown)),
                     carrier_.ask(question("api/whatif", std::move(asked))));
  }

  Carrier& carrier_;
  bool complete_ = true;
};

}  // namespace

void carry_what_if(Carrier& carrier, const OpenInput& input, const Places& places) {
  Sliders sliders(carrier);
  sliders.carry_switches();
  for (const std::string& id : places.findings) sliders.carry_finding(id);
  for (const std::string& name : places.targets) sliders.carry(name, carrier.shown(name));
  for (const std::string_view phase : kPhases) {
    const std::string target = "phase:" + std::string(phase);
    sliders.carry(target, target);
  }
  for (const std::string& name : names_of(input, "kernels", kKernels)) {
    sliders.carry("kernel:" + exact_pattern(name), "kernel:" + exact_pattern(carrier.shown(name)));
  }
  if (!sliders.complete()) carrier.leave_out("For some sliders of what if there was no room.");
  carrier.leave_out(
      "What if: one slider or finding at a time, and switches by themselves; other changes at "
      "once, and other targets, are replayed by fathom whatif.");
}

}  // namespace fathom::server
