// Profiles of speedscope, as py-spy, Fathom and others write them.
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "base/json_result.h"
#include "formats/format.h"
#include "formats/stacks/stack_maker.h"

namespace fathom {
namespace speedscope_format {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// Its schema is named, or its frames are.
bool sniff(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos || text[begin] != '{') return false;
  return contains(text, "speedscope.app/file-format-schema") ||
         (contains(text, "\"shared\"") && contains(text, "\"frames\"") &&
          !contains(text, "\"traceEvents\""));
}

/// A frame as the file lists it.
struct Listed {
  std::string_view name;
  std::string_view file;
  std::int64_t line = -1;
};

/// Reads the profiles of one document into a maker. Places are numbers of profiles.
class Profiles {
 public:
  Profiles(const object& document, StackMaker& maker) : maker_(maker) {
    array frames;
    if (!get_json(document.at_pointer("/shared/frames"), frames)) return;
    for (const element one : frames) {
      Listed listed;
      if (!get_json(one["name"], listed.name)) listed.name = {};
      if (!get_json(one["file"], listed.file)) listed.file = {};
      if (!get_json(one["line"], listed.line)) listed.line = -1;
      listed_.push_back(listed);
    }
  }

  /// Reads those with that unit, of which one is `scale` of what the trace has.
  void read(const array& profiles, std::string_view unit, double scale) {
    for (const element one : profiles) {
      ++number_;
      object profile;
      std::string_view its_unit;
      if (!get_json(one, profile) || !get_json(profile["unit"], its_unit)) {
        wrong("profile");
        continue;
      }
      if (its_unit != unit) {
        // Sums of times and counts mean nothing.
        const std::optional<double> other = ns_per(its_unit);
        if (!ns_per(unit) || !other) {
          wrong("profile in another unit");
          continue;
        }
        read(profile, *other);
        continue;
      }
      read(profile, scale);
    }
  }

 private:
  void wrong(std::string_view what) { maker_.import().add(Repair::wrong_type, number_, what); }

  void read(const object& profile, double scale) {
    std::string_view type;
    if (!get_json(profile["type"], type)) type = {};
    std::string_view name;
    if (!get_json(profile["name"], name)) name = {};
    thread_ = {.tid = static_cast<std::int64_t>(number_), .name = name};
    if (!get_json(profile["startValue"], start_)) start_ = 0;
    if (type == "sampled") return read_sampled(profile, scale);
    if (type == "evented") return read_evented(profile, scale);
    wrong("profile that is neither sampled nor evented");
  }

  void read_sampled(const object& profile, double scale) {
    array stacks;
    array weights;
    if (!get_json(profile["samples"], stacks) || !get_json(profile["weights"], weights))
      return wrong("samples");
    auto weight = weights.begin();
    double time = start_;
    for (const element one : stacks) {
      if (weight == weights.end()) return wrong("samples without weights");
      double value = 0;
      array stack;
      const bool sound = get_json(*weight, value) && get_json(one, stack);
      ++weight;
      std::uint32_t frame = kNoFrame;
      if (!sound || !find(stack, frame)) {
        wrong("sample");
        continue;
      }
      time += value;
      // py-spy writes empty stacks while a thread was idle.
      if (frame != kNoFrame) add(time * scale, frame, value * scale);
    }
  }

  bool find(const array& stack, std::uint32_t& frame) {
    for (const element one : stack) {
      std::uint64_t number = 0;
      if (!get_json(one, number) || number >= listed_.size()) return false;
      frame = enter(frame, number);
    }
    return true;
  }

  std::uint32_t enter(std::uint32_t caller, std::uint64_t number) {
    const Listed& listed = listed_[number];
    return maker_.frame(caller, listed.name, listed.file, listed.line, number_);
  }

  void read_evented(const object& profile, double scale) {
    array events;
    if (!get_json(profile["events"], events)) return wrong("events");
    struct Open {
      std::uint64_t number;
      std::uint32_t frame;
    };
    std::vector<Open> stack;
    double last = start_;
    for (const element one : events) {
      std::string_view type;
      std::uint64_t number = 0;
      double at = 0;
      if (!get_json(one["type"], type) || !get_json(one["frame"], number) ||
          !get_json(one["at"], at) || number >= listed_.size() || !(at >= last)) {
        wrong("event");
        continue;
      }
      if (!stack.empty()) add(at * scale, stack.back().frame, (at - last) * scale);
      last = at;
      if (type == "O") {
        stack.push_back({number, enter(stack.empty() ? kNoFrame : stack.back().frame, number)});
      } else if (!stack.empty() && stack.back().number == number) {
        stack.pop_back();
      } else {
        wrong("end of a frame that is not open");
      }
    }
  }

  void add(double time, std::uint32_t frame, double weight) {
    constexpr double kLargest = 1e18;
    const bool known = time >= -kLargest && time <= kLargest;
    maker_.sample(thread_, known ? static_cast<std::int64_t>(time) : 0, frame, weight, number_);
  }

  StackMaker& maker_;
  std::vector<Listed> listed_;
  std::uint64_t number_ = 0;
  StackOwner thread_;
  double start_ = 0;
};

Result<Trace> read(ByteSource& source, const ReadOptions& /*options*/) {
  Result<std::string> text = read_whole(source);
  if (!text) return text.error();
  const std::size_t bytes = text->size();
  text->reserve(bytes + simdjson::SIMDJSON_PADDING);
  simdjson::dom::parser parser;
  object document;
  array profiles;
  if (!get_json(parser.parse(*text), document) || !get_json(document["profiles"], profiles))
    return Error{ErrorCode::corrupt, "a speedscope profile that is cut or damaged"};
  // The first unit is that of all; counts have none.
  std::string_view unit;
  if (profiles.size() == 0 || !get_json(profiles.at(0)["unit"], unit)) unit = "none";
  StackMaker maker;
  const std::optional<double> scale = ns_per(unit);
  Profiles(document, maker).read(profiles, unit, scale.value_or(1));
  const std::string_view shown = scale ? "" : unit == "none" ? "samples" : unit;
  return maker.finish("speedscope", shown, source, bytes);
}

}  // namespace
}  // namespace speedscope_format

Format speedscope() {
  return {.id = "speedscope",
          .title = "Profiles of speedscope, of py-spy and others (*.speedscope.json)",
          .sniff = speedscope_format::sniff,
          .read = speedscope_format::read};
}

}  // namespace fathom
