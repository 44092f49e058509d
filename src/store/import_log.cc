// Counts the repairs made while reading, and names them.
#include "store/import_log.h"

#include <algorithm>

namespace fathom {
namespace {

constexpr std::array<RepairInfo, kRepairs> kInfo = {{
    {"truncated", "the file ends in the middle of an event", Severity::data_loss},
    {"malformed_event", "an event could not be understood and was skipped", Severity::data_loss},
    {"missing_close", "the closing brackets of the document are missing", Severity::repaired},
    {"trailing_comma", "a comma precedes a closing bracket", Severity::info},
    {"missing_comma", "a comma between two events is missing", Severity::info},
    {"trailing_garbage", "bytes follow the end of the document", Severity::info},
    {"invalid_escape", "a string holds an escape that JSON does not know", Severity::repaired},
    {"control_character", "a string holds a raw control character", Severity::info},
    {"unescaped_quote", "a string holds a quote without a backslash", Severity::repaired},
    {"invalid_utf8", "a string holds bytes that are not UTF-8", Severity::repaired},
    {"not_a_number", "NaN or Infinity where a number is expected", Severity::data_loss},
    {"duplicate_key", "an object holds one key twice; the last one counts", Severity::repaired},
    {"number_out_of_range", "a number is implausibly large", Severity::data_loss},
    {"absurd_duration", "a duration is implausibly long; counted as zero", Severity::data_loss},
    {"negative_duration", "a duration is negative; counted as zero", Severity::data_loss},
    {"missing_time", "a slice has no start or no duration", Severity::data_loss},
    {"zero_time", "an event has ts 0 and dur 0: its time was lost", Severity::data_loss},
    {"unmatched_begin", "a begin event has no end; closed at the end of its track",
     Severity::repaired},
    {"unmatched_end", "an end event has no begin; skipped", Severity::data_loss},
    {"unknown_phase", "an event has a phase that Chrome's format does not define",
     Severity::data_loss},
    {"too_deep", "values are nested deeper than the limit", Severity::data_loss},
    {"decompression", "the compressed stream is damaged; what came before it is kept",
     Severity::data_loss},
    {"wrong_type", "a field has an unexpected type and was ignored", Severity::data_loss},
    {"damaged_block", "a stretch of the file is damaged and was skipped", Severity::data_loss},
    {"missing_block", "a block of records could not be written by the recorder",
     Severity::data_loss},
    {"dropped_records", "a record could not be kept by the recorder", Severity::data_loss},
}};
static_assert(kInfo.back().id == "dropped_records", "one line for each Repair, in its order");

}  // namespace

const RepairInfo& info(Repair repair) { return kInfo[static_cast<std::size_t>(repair)]; }

void ImportLog::add(Repair repair, std::uint64_t offset, std::string_view example,
                    std::uint64_t count) {
  if (count == 0) return;
  RepairCount& entry = repairs_[static_cast<std::size_t>(repair)];
  if (entry.count == 0 || offset < entry.first_offset) {
    entry.first_offset = offset;
    entry.example.assign(example.substr(0, 80));
    std::replace_if(
        entry.example.begin(), entry.example.end(), [](char c) { return c < ' ' || c > '~'; }, '.');
  }
  entry.count = entry.count + count < count ? UINT64_MAX : entry.count + count;
}

void ImportLog::add_unknown(std::string_view what, std::uint64_t count) {
  const auto at = unknown_.find(what);
  if (at != unknown_.end()) {
    at->second += count;
  } else if (unknown_.size() < 1000) {
    unknown_.emplace(what, count);
  }
}

void ImportLog::merge(const ImportLog& other) {
  for (std::size_t i = 0; i < kRepairs; ++i) {
    const RepairCount& theirs = other.repairs_[i];
    if (theirs.count == 0) continue;
    RepairCount& ours = repairs_[i];
    const std::uint64_t count = ours.count + theirs.count;
    if (ours.count == 0 || theirs.first_offset < ours.first_offset) ours = theirs;
    ours.count = count;
  }
  for (const auto& [what, count] : other.unknown_) add_unknown(what, count);
}

void ImportLog::clear() { *this = ImportLog(); }

std::uint64_t ImportLog::total() const {
  std::uint64_t sum = 0;
  for (const RepairCount& entry : repairs_) sum += entry.count;
  return sum;
}

}  // namespace fathom
