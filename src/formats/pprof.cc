// Profiles of pprof: of Go, gperftools, py-spy's relatives, continuous profilers and Fathom itself.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/format.h"
#include "formats/stacks/pprof_fields.h"
#include "formats/stacks/proto_reader.h"
#include "formats/stacks/stack_maker.h"

namespace fathom {
namespace pprof_format {
namespace {

/// It begins with a type of its samples, a short message of two small numbers.
bool sniff(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  constexpr std::size_t kLongestType = 8;
  if (text.size() < 4 || text[0] != '\x0a' || static_cast<unsigned char>(text[1]) > kLongestType ||
      static_cast<unsigned char>(text[1]) == 0)
    return false;
  ProtoReader type(text.substr(2, static_cast<unsigned char>(text[1])));
  std::size_t fields = 0;
  while (type.next()) {
    if (type.field() == 0 || type.field() > 2 || !type.bytes().empty()) return false;
    ++fields;
  }
  const std::size_t end = 2 + static_cast<std::size_t>(static_cast<unsigned char>(text[1]));
  const bool follows = end >= text.size() || text[end] == '\x0a' || text[end] == '\x12';
  return !type.damaged() && fields > 0 && follows;
}

struct ValueType {
  std::uint64_t type = 0;  ///< Numbers of texts.
  std::uint64_t unit = 0;
};

struct Line {
  std::uint64_t function = 0;
  std::int64_t line = -1;
};
struct Location {
  std::vector<Line> lines;  ///< An inlined function first, then what it was inlined into.
  std::uint64_t mapping = 0;
};
struct Function {
  std::uint64_t name = 0;
  std::uint64_t system_name = 0;
  std::uint64_t file = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Result<Trace> read(ByteSource& source) {
    read_tables();
    if (types_.empty())
      return Error{ErrorCode::corrupt, "a profile of pprof that names no type of samples"};
    choose_value();
    ProtoReader profile(bytes_);
    while (profile.next())
      if (profile.field() == PprofProfile::kSample) read_sample(profile.bytes());
    if (profile.damaged()) maker_.import().add(Repair::truncated, bytes_.size(), "profile");
    return maker_.finish("pprof", unit_, source, bytes_.size());
  }

 private:
  void read_tables() {
    ProtoReader profile(bytes_);
    while (profile.next()) {
      switch (profile.field()) {
        case PprofProfile::kSampleType:
          types_.push_back(value_type(profile.bytes()));
          break;
        case PprofProfile::kMapping:
          read_mapping(profile.bytes());
          break;
        case PprofProfile::kLocation:
          read_location(profile.bytes());
          break;
        case PprofProfile::kFunction:
          read_function(profile.bytes());
          break;
        case PprofProfile::kString:
          texts_.push_back(profile.bytes());
          break;
        case PprofProfile::kDefaultType:
          default_type_ = profile.number();
          break;
        default:
          break;
      }
    }
  }

  static ValueType value_type(std::string_view bytes) {
    ValueType type;
    ProtoReader message(bytes);
    while (message.next()) {
      if (message.field() == PprofValueType::kType) type.type = message.number();
      if (message.field() == PprofValueType::kUnit) type.unit = message.number();
    }
    return type;
  }

  void read_mapping(std::string_view bytes) {
    std::uint64_t id = 0;
    std::uint64_t file = 0;
    ProtoReader message(bytes);
    while (message.next()) {
      if (message.field() == PprofMapping::kId) id = message.number();
      if (message.field() == PprofMapping::kFile) file = message.number();
    }
    mappings_[id] = file;
  }

  void read_location(std::string_view bytes) {
    std::uint64_t id = 0;
    Location location;
    ProtoReader message(bytes);
    while (message.next()) {
      if (message.field() == PprofLocation::kId) id = message.number();
      if (message.field() == PprofLocation::kMapping) location.mapping = message.number();
      // No stack is deeper.
      if (message.field() == PprofLocation::kLine && location.lines.size() < FrameTable::kDeepest)
        location.lines.push_back(line_of(message.bytes()));
    }
    locations_[id] = std::move(location);
  }

  static Line line_of(std::string_view bytes) {
    Line line;
    ProtoReader message(bytes);
    while (message.next()) {
      if (message.field() == PprofLine::kFunction) line.function = message.number();
      if (message.field() == PprofLine::kLine) line.line = message.integer();
    }
    return line;
  }

  void read_function(std::string_view bytes) {
    std::uint64_t id = 0;
    Function function;
    ProtoReader message(bytes);
    while (message.next()) {
      if (message.field() == PprofFunction::kId) id = message.number();
      if (message.field() == PprofFunction::kName) function.name = message.number();
      if (message.field() == PprofFunction::kSystemName) function.system_name = message.number();
      if (message.field() == PprofFunction::kFile) function.file = message.number();
    }
    functions_[id] = function;
  }

  [[nodiscard]] std::string_view text(std::uint64_t number) const {
    return number < texts_.size() ? texts_[number] : std::string_view();
  }

  /// Time on a processor where there is one, else the type that the profile names, else the last,
  /// which pprof shows. Other times, of locks, are weights.
  void choose_value() {
    value_ = types_.size() - 1;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (default_type_ != 0 && types_[i].type == default_type_) value_ = i;
    }
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const std::optional<double> ns = ns_per(text(types_[i].unit));
      if (!ns || text(types_[i].type) != "cpu") continue;
      value_ = i;
      scale_ = *ns;
      return;
    }
    const std::string_view unit = text(types_[value_].unit);
    unit_ = text(types_[value_].type);
    if (!unit.empty() && unit != "count") {
      if (!unit_.empty()) unit_ += " ";
      unit_ += unit;
    }
    if (unit == "bytes") unit_ = unit;
    if (unit_.empty()) unit_ = "samples";
  }

  void read_sample(std::string_view bytes) {
    const auto offset =
        bytes.empty() ? 0 : static_cast<std::uint64_t>(bytes.data() - bytes_.data());
    std::vector<std::uint64_t> stack;
    std::vector<std::int64_t> values;
    StackOwner thread;
    ProtoReader message(bytes);
    while (message.next()) {
      if (message.field() == PprofSample::kLocation)
        message.each_number([&](std::uint64_t id) { stack.push_back(id); });
      if (message.field() == PprofSample::kValue) {
        message.each_number(
            [&](std::uint64_t value) { values.push_back(static_cast<std::int64_t>(value)); });
      }
      if (message.field() == PprofSample::kLabel) read_label(message.bytes(), thread);
    }
    if (message.damaged() || values.size() <= value_) {
      maker_.import().add(Repair::malformed_event, offset, "sample");
      return;
    }
    std::uint32_t frame = kNoFrame;
    std::ranges::reverse(stack);
    for (const std::uint64_t id : stack) frame = enter(frame, id, offset);
    if (frame == kNoFrame) frame = maker_.frame(frame, "[unknown]", {}, -1, offset);
    const double weight = static_cast<double>(values[value_]) * scale_;
    if (weight > 0) sum_ += weight;
    constexpr double kLargest = 1e18;
    maker_.sample(thread, static_cast<std::int64_t>(std::min(sum_, kLargest)), frame, weight,
                  offset);
  }

  void read_label(std::string_view bytes, StackOwner& thread) const {
    std::string_view key;
    std::string_view value;
    std::int64_t number = kAbsent;
    ProtoReader message(bytes);
    while (message.next()) {
      if (message.field() == PprofLabel::kKey) key = text(message.number());
      if (message.field() == PprofLabel::kText) value = text(message.number());
      if (message.field() == PprofLabel::kNumber) number = message.integer();
    }
    if (key == "thread" || key == "thread name" || key == "thread_name") thread.name = value;
    if (key == "tid" || key == "thread id" || key == "thread_id" || key == "thread native id")
      thread.tid = number;
    if (key == "pid" || key == "process_id") thread.pid = number;
  }

  std::uint32_t enter(std::uint32_t caller, std::uint64_t id, std::uint64_t offset) {
    const auto found = locations_.find(id);
    if (found == locations_.end()) {
      maker_.import().add(Repair::wrong_type, offset, "a location that is not defined");
      return caller;
    }
    const Location& location = found->second;
    for (std::size_t at = location.lines.size(); at-- > 0;) {
      const Line& line = location.lines[at];
      const auto function = functions_.find(line.function);
      const Function known = function == functions_.end() ? Function{} : function->second;
      const std::string_view name = text(known.name != 0 ? known.name : known.system_name);
      caller = maker_.frame(caller, name, text(known.file), line.line, offset);
    }
    if (!location.lines.empty()) return caller;
    const auto mapping = mappings_.find(location.mapping);
    return maker_.frame(caller, "[unknown]",
                        mapping == mappings_.end() ? std::string_view() : text(mapping->second), -1,
                        offset);
  }

  std::string_view bytes_;
  StackMaker maker_;
  std::vector<ValueType> types_;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::uint64_t, std::uint64_t> mappings_;  // their files
  std::unordered_map<std::uint64_t, Location> locations_;
  std::unordered_map<std::uint64_t, Function> functions_;
  std::size_t value_ = 0;  // of each sample, the one that counts
  double scale_ = 1;
  std::string unit_;
  std::uint64_t default_type_ = 0;  // the number of its text
  double sum_ = 0;
};

Result<Trace> read(ByteSource& source, const ReadOptions& /*options*/) {
  const Result<std::string> bytes = read_whole(source);
  if (!bytes) return bytes.error();
  return Reader(*bytes).read(source);
}

}  // namespace
}  // namespace pprof_format

Format pprof() {
  return {.id = "pprof",
          .title = "Profiles of pprof (*.pb.gz, *.pprof)",
          .sniff = pprof_format::sniff,
          .read = pprof_format::read};
}

}  // namespace fathom
