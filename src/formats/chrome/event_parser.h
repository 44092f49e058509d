// One event object of traceEvents to rows of a Batch.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/simd.h"
#include "formats/chrome/batch.h"
#include "formats/chrome/event.h"
#include "formats/chrome/exact_time.h"
#include "formats/chrome/keys.h"
#include "formats/chrome/shared_tables.h"
#include "formats/chrome/text_cache.h"

namespace fathom::chrome {

enum class ParseStatus : std::uint8_t {
  ok,
  incomplete,  ///< The text ends inside the event.
  malformed,   ///< Not something that can be read as an event.
};

/// Reads events. One per thread: it keeps caches of what it saw. `tables` must outlive it.
class EventParser {
 public:
  explicit EventParser(SharedTables& tables);

  /// Says which text the following calls of parse() read: [begin, end), readable and zero for
  /// json::kPadding bytes behind its end; `offset` is the place of `begin` in the input.
  void set_text(const char* begin, const char* end, std::uint64_t offset);

  /// Reads the event whose '{' is at `p` and adds it to `batch`; `p` moves behind its '}'.
  /// Unless the result is ok, `p` and the rows of `batch` stay as they were.
  ParseStatus parse(const char*& p, Batch& batch);

  /// Adds the counts of unknown attributes gathered so far to `log`, and forgets them.
  void take_unknown(ImportLog& log);

 private:
  struct CachedCategory {
    std::array<char, 32> text{};
    std::uint8_t size = 0;
    std::uint8_t row = 0;
    SliceKind kind = SliceKind::other;
    StringId name = StringId(0);
  };
  struct CachedPlace {
    simd::Bytes16 pid = simd::filled(0);
    simd::Bytes16 tid = simd::filled(0);
    std::uint8_t pid_size = 255;
    std::uint8_t tid_size = 255;
    PlaceKind kind = PlaceKind::host;
    std::uint32_t described_in = 0;  // serial of the text whose batch knows its device and stream
    TrackId place;
  };

  ParseStatus parse_event(const char*& p, Event& event);
  ParseStatus parse_args(const char*& p, Event& event);
  template <typename Visit>
  ParseStatus parse_members(const char*& p, const Event& event, std::uint64_t& seen,
                            std::uint8_t first, const KeyTable& keys, Visit visit);
  ParseStatus parse_event_value(const KeyEntry& entry, const char*& p, Event& event);
  ParseStatus parse_args_value(const KeyEntry& entry, const char*& p, Event& event);
  template <std::size_t At>
  static ParseStatus parse_attribute(EventParser& parser, const char*& p, EventArgs& said);
  ParseStatus parse_string(const char*& p, StringId& out);
  ParseStatus parse_name(const char*& p, Event& event);
  ParseStatus parse_token(const char*& p, Token& out);
  ParseStatus parse_integer(const char*& p, std::int64_t& out);
  template <typename Small>
  ParseStatus parse_small_integer(const char*& p, Small& out) {
    std::int64_t value = kAbsent;
    const ParseStatus status = parse_integer(p, value);
    if (value >= -1 && value <= std::numeric_limits<Small>::max()) out = static_cast<Small>(value);
    return status;
  }
  ParseStatus parse_integer_slowly(const char*& p, std::int64_t& out);
  ParseStatus parse_real(const char*& p, double& out);
  ParseStatus parse_dimensions(const char*& p, std::array<std::int32_t, 3>& out);
  ParseStatus parse_json(const char*& p, StringId& out);
  ParseStatus parse_time(const char*& p, ExactTime& out, TimeField& state);
  ParseStatus parse_phase(const char*& p, Event& event);
  ParseStatus parse_category(const char*& p, Event& event);
  ParseStatus parse_id(const char*& p, std::int64_t& out);
  ParseStatus skip_value(const char*& p);
  [[nodiscard]] const char* string_end(const char* p) const;
  [[nodiscard]] ParseStatus stopped_at(const char* p) const {
    return p >= end_ ? ParseStatus::incomplete : ParseStatus::malformed;
  }

  void emit(const Event& event, Batch& batch);
  void emit_slice(const Event& event, Batch& batch, TrackId place, std::int64_t start_ns,
                  Duration duration);
  void emit_complete(const Event& event, Batch& batch);
  void emit_pair(const Event& event, Batch& batch);
  void emit_flow(const Event& event, Batch& batch);
  void emit_instant(const Event& event, Batch& batch);
  void emit_counter(const Event& event, Batch& batch);
  void emit_metadata(const Event& event, Batch& batch);
  void emit_collective(const Event& event, Batch& batch, SliceId slice);
  std::uint32_t emit_detail(const Event& event, Batch& batch);
  std::uint32_t emit_op(const Event& event, Batch& batch);
  void watch_for_jumps(const Event& event, Batch& batch, std::int64_t start_ns);
  CachedPlace& place_of(PlaceKind kind, Token pid, Token tid);
  TrackId host_place(const Event& event) {
    return place_of(PlaceKind::host, event.pid, event.tid).place;
  }
  TrackId series_place(PlaceKind kind, Token pid, StringId series);
  void describe_device(const Event& event, Batch& batch, CachedPlace& place);
  CachedCategory read_category(StringId name, std::string_view text);
  LaunchConfigId config_of(const LaunchConfig& config);
  SignatureId signature_of(const Signature& signature);

  [[nodiscard]] std::uint64_t offset_of(const char* p) const {
    return offset_ + static_cast<std::uint64_t>(p - begin_);
  }
  void note(Repair repair, const char* at, std::string_view example = {});

  SharedTables& tables_;
  const KeyTable& event_keys_;
  const KeyTable& args_keys_;
  ThreadStrings strings_;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t offset_ = 0;
  bool valid_utf8_ = true;
  bool lenient_quotes_ = false;  // a string ends only at a quote that something plausible follows
  struct Note {
    Repair repair;
    std::uint64_t offset;
    std::string example;
  };
  std::vector<Note> notes_;  // repairs of the event being read: kept only when it can be read

  // Which key came after which, per kind of event: the guess for the next one.
  static constexpr std::size_t kContexts = 8 + kSliceKinds;
  std::array<std::array<const KeyEntry*, kKeyIndexes>, kContexts> successor_;

  std::array<CachedCategory, 32> categories_;
  std::array<CachedPlace, 64> places_;
  struct CopyTraits {
    CopyKind kind = CopyKind::unknown;
    MemoryKind source = MemoryKind::unknown;
    MemoryKind destination = MemoryKind::unknown;
  };
  std::unordered_map<StringId, CopyTraits, IdHash> copies_;
  const CopyTraits& copy_traits(StringId name);
  struct CachedConfig {
    LaunchConfig config;
    LaunchConfigId id;
  };
  static constexpr std::size_t kCached = 1024;
  std::vector<CachedConfig> configs_;  // none or kCached
  struct CachedSignature {
    Signature signature;
    SignatureId id;
  };
  std::vector<CachedSignature> signatures_;  // none or kCached
  std::unordered_map<std::string, std::uint64_t> unknown_;
  std::vector<std::string_view> unknown_keys_;  // of the event being read
  std::string scratch_;
  std::uint32_t text_serial_ = 0;
  std::int64_t last_start_ns_ = 0;
  Batch::Suspect last_slice_;
  StringId memory_name_;
};

}  // namespace fathom::chrome
