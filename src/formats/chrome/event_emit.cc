// Writes an event into the table that it belongs to.
#include <charconv>

#include "base/simd.h"
#include "formats/chrome/derived.h"
#include "formats/chrome/event_parser.h"
#include "formats/chrome/json_scan.h"
#include "store/slice_appender.h"

namespace fathom::chrome {
namespace {

/// Longer than any recording: 10^14 ns are 28 hours. Recorders that lose an end write durations
/// like 10^18.
constexpr Duration kAbsurdDuration = duration_ns(100'000'000'000'000);

bool on_device_track(SliceKind kind) {
  return is_device_activity(kind) || kind == SliceKind::sync ||
         kind == SliceKind::gpu_user_annotation || kind == SliceKind::profiler_range;
}

/// A token of at most 16 bytes, padded with zeros. Tokens lie in padded text or are copied from it.
simd::Bytes16 first_bytes(Token token) {
  static constexpr char kMask[33] =
      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
  if (token.size == 0) return simd::filled(0);
  return simd::load(token.text) & simd::load(kMask + 16 - token.size);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

MemoryKind memory_kind(std::string_view word) {
  if (contains(word, "Pinned")) return MemoryKind::pinned;
  if (contains(word, "Pageable") || contains(word, "Host")) return MemoryKind::pageable;
  if (contains(word, "Device")) return MemoryKind::device;
  if (contains(word, "Array")) return MemoryKind::array;
  if (contains(word, "Managed")) return MemoryKind::managed;
  // Intel's: MEMORY is the program's own, HOST was allocated for copies.
  if (contains(word, "MEMORY")) return MemoryKind::pageable;
  if (contains(word, "HOST")) return MemoryKind::pinned;
  if (contains(word, "DEVICE")) return MemoryKind::device;
  if (contains(word, "SHARED")) return MemoryKind::managed;
  return MemoryKind::unknown;
}

CopyKind copy_kind(std::string_view name) {
  struct Word {
    std::string_view text;
    CopyKind kind;
  };
  constexpr Word kWords[] = {
      {"Memset", CopyKind::memset},
      {"FillBuffer", CopyKind::memset},
      {"MemoryFill", CopyKind::memset},
      {"HtoD", CopyKind::h2d},
      {"HostToDevice", CopyKind::h2d},
      {"M2D", CopyKind::h2d},
      {"H2D", CopyKind::h2d},
      {"DtoH", CopyKind::d2h},
      {"DeviceToHost", CopyKind::d2h},
      {"D2M", CopyKind::d2h},
      {"D2H", CopyKind::d2h},
      {"DtoD", CopyKind::d2d},
      {"DeviceToDevice", CopyKind::d2d},
      {"P2P", CopyKind::p2p},
      {"D2D", CopyKind::d2d},
      {"PtoP", CopyKind::p2p},
      {"PeerToPeer", CopyKind::p2p},
      {"HtoH", CopyKind::h2h},
      {"HostToHost", CopyKind::h2h},
      {"HtoA", CopyKind::array},
      {"AtoH", CopyKind::array},
      {"AtoA", CopyKind::array},
      {"AtoD", CopyKind::array},
      {"DtoA", CopyKind::array},
  };
  for (const Word& word : kWords) {
    if (contains(name, word.text)) return word.kind;
  }
  return CopyKind::unknown;
}

}  // namespace

void EventParser::emit(const Event& event, Batch& batch) {
  if (event.phase != Phase::counter && event.phase != Phase::metadata) {
    for (const std::string_view key : unknown_keys_)
      ++unknown_["attribute " + std::string(key.substr(0, 100))];
  }
  switch (event.phase) {
    case Phase::complete:
      return emit_complete(event, batch);
    case Phase::begin:
    case Phase::end:
    case Phase::async_begin:
    case Phase::async_end:
      return emit_pair(event, batch);
    case Phase::flow_start:
    case Phase::flow_step:
    case Phase::flow_finish:
      return emit_flow(event, batch);
    case Phase::instant:
      return emit_instant(event, batch);
    case Phase::counter:
      return emit_counter(event, batch);
    case Phase::metadata:
      return emit_metadata(event, batch);
    case Phase::not_read:
      ++unknown_[std::string("phase ") + event.phase_text];
      return;
    case Phase::missing:  // XLA ends its list with an empty object
      if (event.seen == 0 && unknown_keys_.empty()) return;
      [[fallthrough]];
    case Phase::unknown:
      batch.log.add(Repair::unknown_phase, offset_of(event.begin),
                    {event.begin,
                     static_cast<std::size_t>(std::min<std::ptrdiff_t>(80, end_ - event.begin))});
  }
}

void EventParser::emit_complete(const Event& event, Batch& batch) {
  if (event.start_state != TimeField::present) {
    batch.log.add(Repair::missing_time, offset_of(event.begin));
    return;
  }
  const std::int64_t start = event.start.rounded();
  Duration duration{};
  if (event.duration_state != TimeField::present) {
    batch.log.add(Repair::missing_time, offset_of(event.begin));
  } else {
    duration = duration_ns((event.start + event.duration).rounded() - start);
  }
  if (duration < Duration::zero()) {
    batch.log.add(Repair::negative_duration, offset_of(event.begin));
    duration = Duration::zero();
  } else if (duration > kAbsurdDuration) {
    batch.log.add(Repair::absurd_duration, offset_of(event.begin));
    duration = Duration::zero();
  }
  if (start == 0 && duration == Duration::zero()) {
    batch.zero_times.push_back(
        {static_cast<std::uint32_t>(batch.slices.size()), offset_of(event.begin)});
  }
  if (on_device_track(event.kind)) {
    CachedPlace& place = place_of(PlaceKind::device, event.pid, event.tid);
    if (place.described_in != text_serial_) describe_device(event, batch, place);
    emit_slice(event, batch, place.place, start, duration);
  } else {
    emit_slice(event, batch, host_place(event), start, duration);
  }
}

void EventParser::describe_device(const Event& event, Batch& batch, CachedPlace& place) {
  const auto [device, stream] = event.said.place;
  if (device == kAbsent && stream == kAbsent) return;
  batch.devices.push_back({place.place, device, stream});
  if (device != kAbsent && stream != kAbsent) place.described_in = text_serial_;
}

/// Remembers where starts jump further than a trace can last, so that a lost time can be shown at
/// its place.
void EventParser::watch_for_jumps(const Event& event, Batch& batch, std::int64_t start_ns) {
  const Batch::Suspect here{static_cast<std::uint32_t>(batch.slices.size()),
                            offset_of(event.begin)};
  const bool first = here.slice == 0;
  if (!first && duration_ns(std::abs(start_ns - last_start_ns_)) > kAbsurdDuration) {
    batch.jumps.push_back(last_slice_);
    batch.jumps.push_back(here);
  }
  last_start_ns_ = start_ns;
  last_slice_ = here;
}

void EventParser::emit_slice(const Event& event, Batch& batch, TrackId place, std::int64_t start_ns,
                             Duration duration) {
  batch.kinds[event.category] = event.kind;
  watch_for_jumps(event, batch, start_ns);
  Slices::Row slice = event.said.slice;
  slice.track = place;
  slice.start = time_ns(start_ns);
  slice.duration = duration;
  slice.name = event.name.valid() ? event.name : StringId(0);
  slice.category = event.category;
  slice.detail = emit_detail(event, batch);
  const SliceId added = SliceAppender(batch).add(slice);
  if (event.said.has_collective) emit_collective(event, batch, added);
}

std::uint32_t EventParser::emit_op(const Event& event, Batch& batch) {
  Ops::Row op = event.said.op;
  op.signature = signature_of(event.said.signature);
  return SliceAppender(batch).add_detail(op);
}

/// The row of the slice's detail table, or kNone for kinds without one.
std::uint32_t EventParser::emit_detail(const Event& event, Batch& batch) {
  SliceAppender appender(batch);
  switch (event.kind) {
    case SliceKind::cpu_op:
    case SliceKind::user_annotation:
      return event.said.has_op ? emit_op(event, batch) : SliceId::kNone;
    case SliceKind::kernel: {
      Kernels::Row kernel = event.said.kernel;
      kernel.config = config_of(event.said.config);
      return appender.add_detail(kernel);
    }
    case SliceKind::memcpy:
    case SliceKind::memset: {
      const CopyTraits& traits = copy_traits(event.name);
      Copies::Row copy = event.said.copy;
      copy.kind = event.kind == SliceKind::memset ? CopyKind::memset : traits.kind;
      copy.source = traits.source;
      copy.destination = traits.destination;
      return appender.add_detail(copy);
    }
    case SliceKind::python_function:
      return appender.add_detail(event.said.frame);
    case SliceKind::sync:
      return appender.add_detail(event.said.sync);
    default:
      return SliceId::kNone;
  }
}

void EventParser::emit_collective(const Event& event, Batch& batch, SliceId slice) {
  batch.collectives.push_back(event.said.collective);
  batch.collectives.back().slice = slice;
}

void EventParser::emit_pair(const Event& event, Batch& batch) {
  if (event.start_state != TimeField::present) {
    batch.log.add(Repair::missing_time, offset_of(event.begin));
    return;
  }
  PairEnd pair;
  pair.begin = event.phase == Phase::begin || event.phase == Phase::async_begin;
  pair.async = event.phase == Phase::async_begin || event.phase == Phase::async_end;
  pair.id = event.id;
  pair.category = event.category_name;
  pair.time_ns = event.start.rounded();
  pair.offset = offset_of(event.begin);
  pair.place = pair.async ? series_place(PlaceKind::async, event.pid, event.category_name)
                          : host_place(event);
  if (!pair.begin) {
    pair.correlation = event.said.slice.correlation;
    pair.external_id = event.said.slice.external_id;
    if (event.said.has_op) pair.op = emit_op(event, batch);
  } else {
    pair.slice = static_cast<std::uint32_t>(batch.slices.size());
    emit_slice(event, batch, pair.place, pair.time_ns, kOpenDuration);
  }
  batch.pairs.push_back(pair);
}

void EventParser::emit_flow(const Event& event, Batch& batch) {
  if (event.start_state != TimeField::present || !event.has_id) {
    batch.log.add(Repair::missing_time, offset_of(event.begin));
    return;
  }
  batch.flows.append({.track = place_of(PlaceKind::flow, event.pid, event.tid).place,
                      .time = time_ns(event.start.rounded()),
                      .id = event.id,
                      .category = event.category_name,
                      .phase = event.phase == Phase::flow_start  ? FlowPhase::start
                               : event.phase == Phase::flow_step ? FlowPhase::step
                                                                 : FlowPhase::finish});
}

void EventParser::emit_instant(const Event& event, Batch& batch) {
  if (event.start_state != TimeField::present) {
    batch.log.add(Repair::missing_time, offset_of(event.begin));
    return;
  }
  const TrackId place = host_place(event);
  const Time time = time_ns(event.start.rounded());
  if (event.name != memory_name_) {
    batch.instants.append(
        {.track = place, .time = time, .name = event.name.valid() ? event.name : StringId(0)});
    return;
  }
  MemoryEvents::Row memory = event.said.memory;
  memory.track = place;
  memory.time = time;
  if (memory.bytes == kAbsent) memory.bytes = 0;
  batch.memory.append(memory);
}

/// Every number of the args is a sample of its own series.
void EventParser::emit_counter(const Event& event, Batch& batch) {
  if (event.has_category && tables_.strings.view(event.category_name) == kDerivedCategory) return;
  if (event.start_state != TimeField::present || event.args == nullptr) {
    batch.log.add(Repair::missing_time, offset_of(event.begin));
    return;
  }
  const Time time = time_ns(event.start.rounded());
  const char* p = json::skip_space(event.args + 1);
  while (*p == '"') {
    const char* const close = string_end(p + 1);
    if (close == nullptr) break;  // an event with stray quotes
    const std::string_view key(p + 1, static_cast<std::size_t>(close - p - 1));
    p = json::skip_space(json::skip_space(close + 1) + 1);
    const char* const value_end = json::find_value_end(p, end_);
    if (value_end == nullptr || value_end == p) break;
    const bool quoted = *p == '"';
    double value = 0;
    const auto [rest, error] = std::from_chars(p + (quoted ? 1 : 0), value_end, value);
    if (error == std::errc() && rest == value_end - (quoted ? 1 : 0) && value - value == 0) {
      scratch_ = tables_.strings.view(event.name);
      scratch_.append(" ").append(key);
      const StringId series = strings_.intern(scratch_);
      batch.samples.append({.track = series_place(PlaceKind::counter, event.pid, series),
                            .time = time,
                            .value = value});
    }
    p = json::skip_space(value_end);
    if (*p == ',') p = json::skip_space(p + 1);
  }
}

void EventParser::emit_metadata(const Event& event, Batch& batch) {
  struct Known {
    std::string_view name;
    Metadata::What what;
  };
  constexpr Known kKnown[] = {
      {"process_name", Metadata::What::process_name},
      {"process_labels", Metadata::What::process_labels},
      {"process_sort_index", Metadata::What::process_sort},
      {"thread_name", Metadata::What::thread_name},
      {"thread_sort_index", Metadata::What::thread_sort},
  };
  const TrackId place = host_place(event);
  for (const Known& known : kKnown) {
    if (strings_.intern(known.name) != event.name) continue;
    const bool labels = known.what == Metadata::What::process_labels;
    batch.metadata.push_back({known.what, place,
                              labels ? event.said.names.labels : event.said.names.name,
                              event.said.names.sort_index});
    return;
  }
  ++unknown_["metadata event"];
}

const EventParser::CopyTraits& EventParser::copy_traits(StringId name) {
  const auto [at, added] = copies_.try_emplace(name);
  if (added) {
    const std::string_view text = tables_.strings.view(name);
    at->second.kind = copy_kind(text);
    const std::size_t open = text.find('(');
    const std::size_t arrow = text.find("->");
    if (open != std::string_view::npos && arrow != std::string_view::npos && open < arrow) {
      at->second.source = memory_kind(text.substr(open, arrow - open));
      at->second.destination = memory_kind(text.substr(arrow));
    } else if (open != std::string_view::npos) {
      at->second.destination = memory_kind(text.substr(open));
    }
  }
  return at->second;
}

EventParser::CachedPlace& EventParser::place_of(PlaceKind kind, Token pid, Token tid) {
  const bool short_enough = pid.size <= 16 && tid.size <= 16;
  const simd::Bytes16 pid_text = short_enough ? first_bytes(pid) : simd::filled(0);
  const simd::Bytes16 tid_text = short_enough ? first_bytes(tid) : simd::filled(0);
  const std::uint64_t a = first_eight(pid_text);
  const std::uint64_t b = first_eight(tid_text);
  const std::uint64_t hash = (a * 0x9e3779b97f4a7c15ULL) ^ (b * 0xa0761d6478bd642fULL) ^
                             static_cast<std::uint64_t>(kind) << 60U;
  CachedPlace& cached = places_[(hash ^ hash >> 32U ^ hash >> 58U) % places_.size()];
  const simd::Bytes16 same = equal(cached.pid, pid_text) & equal(cached.tid, tid_text);
  if (short_enough && cached.kind == kind && cached.pid_size == pid.size &&
      cached.tid_size == tid.size && mask_of(same) == 0xffffU) {
    return cached;
  }
  const Place place{kind, strings_.intern(pid.view()), strings_.intern(tid.view())};
  cached = {pid_text,
            tid_text,
            static_cast<std::uint8_t>(short_enough ? pid.size : 255U),
            static_cast<std::uint8_t>(short_enough ? tid.size : 255U),
            kind,
            0,
            TrackId(tables_.places.intern(place))};
  return cached;
}

TrackId EventParser::series_place(PlaceKind kind, Token pid, StringId series) {
  return TrackId(tables_.places.intern({kind, strings_.intern(pid.view()), series}));
}

EventParser::CachedCategory EventParser::read_category(StringId name, std::string_view text) {
  CachedCategory category;
  category.kind = kind_of_category(text);
  category.row = tables_.category(name, category.kind);
  category.name = name;
  if (text.size() <= category.text.size()) {
    category.size = static_cast<std::uint8_t>(text.size());
    std::memcpy(category.text.data(), text.data(), text.size());
  }
  return category;
}

LaunchConfigId EventParser::config_of(const LaunchConfig& config) {
  if (configs_.empty()) configs_.resize(kCached);
  CachedConfig& cached = configs_[LaunchConfigHash()(config) % kCached];
  if (!cached.id.valid() || !(cached.config == config)) {
    cached = {config, LaunchConfigId(tables_.launch_configs.intern(config))};
  }
  return cached.id;
}

SignatureId EventParser::signature_of(const Signature& signature) {
  if (signature == Signature()) return {};
  if (signatures_.empty()) signatures_.resize(kCached);
  CachedSignature& cached = signatures_[SignatureHash()(signature) % kCached];
  if (!cached.id.valid() || !(cached.signature == signature)) {
    cached = {signature, SignatureId(tables_.signatures.intern(signature))};
  }
  return cached.id;
}

}  // namespace fathom::chrome
