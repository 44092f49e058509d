// Writes the details of a trace as one text, and reads it again with a look at each length.
#include "store/image_details.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "store/parts.h"

namespace fathom {
namespace {

/// What each_detail() visits, behind each other in one text.
struct DetailWriter {
  std::string text;

  void value(const std::string& value) {
    this->value(std::uint64_t{value.size()});
    text += value;
  }
  template <typename T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
};

/// Reads it again; what is not there leaves `whole` false.
struct DetailReader {
  std::string_view text;
  bool whole = true;

  void value(std::string& value) {
    std::uint64_t bytes = 0;
    this->value(bytes);
    if (bytes > text.size()) whole = false;
    if (!whole) return;
    value.assign(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  void value(bool& value) {
    char byte = 0;
    this->value(byte);
    value = byte != 0;
  }
  template <typename T>
  void value(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (sizeof value > text.size()) whole = false;
    if (!whole) return;
    std::memcpy(&value, text.data(), sizeof value);
    text.remove_prefix(sizeof value);
  }
};

}  // namespace

std::string details_of(const Trace& trace) {
  DetailWriter writer;
  const auto value = [&writer](const auto& field) { writer.value(field); };
  const auto list = [&writer](const auto& elements, const auto& fields) {
    if constexpr (requires { elements.size(); }) {
      writer.value(std::uint64_t{elements.size()});
      for (const auto& element : elements) fields(element);
    } else {
      writer.value(std::uint64_t{elements ? 1U : 0U});
      if (elements) fields(*elements);
    }
  };
  each_detail(trace, value, list);
  for (std::size_t i = 0; i < kRepairs; ++i) {
    const RepairCount& repair = trace.import[static_cast<Repair>(i)];
    value(repair.count), value(repair.first_offset), value(repair.example);
  }
  value(std::uint64_t{trace.import.unknown().size()});
  for (const auto& [what, count] : trace.import.unknown()) value(what), value(count);
  return writer.text;
}

bool restore_details(std::string_view text, Trace& trace) {
  DetailReader reader{.text = text};
  const auto value = [&reader](auto& field) { reader.value(field); };
  const auto list = [&](auto& elements, const auto& fields) {
    std::uint64_t count = 0;
    value(count);
    if (count > reader.text.size()) reader.whole = false;
    for (std::uint64_t i = 0; i < count && reader.whole; ++i) {
      if constexpr (requires { elements.emplace_back(); }) {
        fields(elements.emplace_back());
      } else {
        fields(elements.emplace());
      }
    }
  };
  each_detail(trace, value, list);
  for (std::size_t i = 0; i < kRepairs; ++i) {
    RepairCount repair;
    value(repair.count), value(repair.first_offset), value(repair.example);
    if (reader.whole && repair.count > 0)
      trace.import.add(static_cast<Repair>(i), repair.first_offset, repair.example, repair.count);
  }
  std::uint64_t unknown = 0;
  value(unknown);
  for (std::uint64_t i = 0; i < unknown && reader.whole; ++i) {
    std::string what;
    std::uint64_t count = 0;
    value(what), value(count);
    if (reader.whole) trace.import.add_unknown(what, count);
  }
  return reader.whole && reader.text.empty();
}

}  // namespace fathom
