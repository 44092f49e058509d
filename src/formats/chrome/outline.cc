// Reads the keys around the events, byte by byte.
#include "formats/chrome/outline.h"

#include "formats/chrome/json_scan.h"

namespace fathom::chrome {
namespace {

constexpr std::size_t kMaxFactBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxDepth = 1000;

}  // namespace

const char* Outline::read(const char* p, const char* end, std::uint64_t offset) {
  const char* const begin = p;
  while (p < end && !in_events_) {
    read_byte(*p, offset + static_cast<std::uint64_t>(p - begin));
    ++p;
  }
  return p;
}

void Outline::read_byte(char c, std::uint64_t offset) {
  if (in_string_) {
    if (capturing_ && fact_.size() < kMaxFactBytes) fact_.push_back(c);
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      return;
    }
    if (text_.size() < 256) text_.push_back(c);
    return;
  }
  if (json::is_space(c)) {
    if (capturing_ && !fact_.empty() && fact_.size() < kMaxFactBytes) fact_.push_back(c);
    return;
  }
  if (started_ && open_.empty()) {
    if (!has_garbage_) garbage_offset_ = offset;
    has_garbage_ = true;
    return;
  }
  const bool value_begins = after_colon_;
  after_colon_ = false;
  switch (c) {
    case '"':
      in_string_ = true;
      text_.clear();
      break;
    case ':':
      after_colon_ = true;
      key_ = text_;
      if (!capturing_ && open_.size() == fact_depth_ && open_.back() == '{') {
        capturing_ = true;
        fact_key_ = key_;
        fact_.clear();
        return;
      }
      break;
    case '{':
    case '[':
      if (c == '[' && ((value_begins && key_ == "traceEvents") || !started_)) {
        bare_list_ = !started_;
        started_ = true;
        enter_events();
        return;
      }
      started_ = true;
      if (open_.size() < kMaxDepth) open_.push_back(c);
      break;
    case '}':
    case ']':
      if (open_.size() == fact_depth_) end_value();
      if (!open_.empty()) open_.pop_back();
      break;
    case ',':
      if (open_.size() == fact_depth_) {
        end_value();
        return;
      }
      break;
    default:
      break;
  }
  if (capturing_ && fact_.size() < kMaxFactBytes) fact_.push_back(c);
}

void Outline::end_value() {
  if (!capturing_) return;
  while (!fact_.empty() && json::is_space(fact_.back())) fact_.pop_back();
  if (!fact_.empty() && facts_.size() < 10000) facts_.push_back({fact_key_, fact_});
  capturing_ = false;
}

void Outline::enter_events() {
  if (capturing_ &&
      open_.size() > fact_depth_) {  // wrapped: the members beside traceEvents are the facts
    Outline inner;
    const std::string so_far = std::move(fact_);
    inner.read(so_far.data(), so_far.data() + so_far.size(), 0);
    for (Fact& fact : inner.facts_) facts_.push_back(std::move(fact));
    fact_depth_ = open_.size();
  }
  capturing_ = false;
  in_events_ = true;
  saw_events_ = true;
}

void Outline::events_closed() {
  in_events_ = false;
  key_.clear();
}

}  // namespace fathom::chrome
