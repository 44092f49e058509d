// Writes baselines, as large as they may be.
#include "compare/baseline.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "compare/any_bucket_id.h"

namespace fathom {
namespace {

constexpr std::size_t kMostKernels = 8;
/// Comma, line break and indentation of a row.
constexpr std::size_t kAroundRow = 24;

std::string hex(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

void write_integers(JsonWriter& json, std::string_view key,
                    const std::vector<std::int64_t>& values) {
  json.key(key).array(kJsonCompact);
  for (const std::int64_t value : values) json.integer(value);
  json.end();
}

void write_text(JsonWriter& json, std::string_view key, std::string_view text) {
  if (!text.empty()) json.member(key, text);
}

void write_kernels(JsonWriter& json, std::vector<KernelTime> kernels) {
  if (kernels.size() < 2) return;
  std::ranges::stable_sort(kernels, std::ranges::greater(),
                           [](const KernelTime& each) { return each.work.time_ns; });
  KernelTime rest{.name = kFoldedKernels, .work = {}};
  // Those of a file that was read before stay what they are.
  std::erase_if(kernels, [&rest](const KernelTime& each) {
    if (each.name == kFoldedKernels) rest.work.add(each.work);
    return each.name == kFoldedKernels;
  });
  for (std::size_t i = kMostKernels; i < kernels.size(); ++i) rest.work.add(kernels[i].work);
  if (kernels.size() > kMostKernels) kernels.resize(kMostKernels);
  if (rest.work.time_ns > 0) kernels.push_back(std::move(rest));
  json.key("kernels").array(kJsonInline);
  for (const KernelTime& kernel : kernels)
    json.array()
        .text(kernel.name.view())
        .integer(kernel.work.time_ns)
        .integer(kernel.work.calls)
        .end();
  json.end();
}

std::string row_text(const ProfileRow& row, std::size_t batches) {
  std::string out;
  JsonWriter json(out, kJsonInline);
  json.object().member("bucket", any_bucket_id(row.key.bucket)).member("op", row.key.op.view());
  write_text(json, "phase", row.key.phase);
  write_text(json, "module", row.key.module);
  write_text(json, "outer", row.key.outer);
  write_text(json, "shapes", row.key.shapes);
  write_text(json, "types", row.key.types);
  write_text(json, "place", row.place);
  if (row.key.compiling) json.member("compiling", true);
  if (row.key.after_sync) json.member("after_sync", true);
  json.member("time_ns", row.work.time_ns).member("calls", row.work.calls);
  write_integers(json, "by_batch", row.work.by_batch.all(batches));
  // One kernel that is all of the row is named; what several take is kept, too.
  if (row.kernels.size() == 1) json.member("kernel", row.kernels.front().name.view());
  write_kernels(json, row.kernels);
  json.end();
  return out;
}

/// Rows as texts, the longest time first, in at most `room` bytes; the others added up.
std::vector<std::string> row_texts(const Profile& profile, std::size_t room) {
  std::vector<const ProfileRow*> order;
  const std::size_t batches = profile.batches.size();
  std::map<AnyBucket, ProfileRow> folded;
  for (const ProfileRow& row : profile.rows) {
    if (row.key.op != kFoldedRows) order.push_back(&row);
    ProfileRow& rest = folded[row.key.bucket];
    rest.key = {.bucket = row.key.bucket, .op = kFoldedRows};
    rest.work.add(row.work);
  }
  // Room for a row of each bucket, whether it is needed or not.
  std::size_t taken = 0;
  for (const auto& [bucket, row] : folded) taken += row_text(row, batches).size() + kAroundRow;
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [](const ProfileRow* row) { return row->work.time_ns; });
  std::map<AnyBucket, ProfileRow> rest;
  for (const ProfileRow& row : profile.rows) {
    if (row.key.op == kFoldedRows) rest[row.key.bucket] = row;
  }
  std::vector<std::string> texts;
  bool full = false;
  for (const ProfileRow* const row : order) {
    std::string text = full ? std::string() : row_text(*row, batches);
    full = full || taken + text.size() + kAroundRow > room;
    if (full) {
      ProfileRow& sum = rest[row->key.bucket];
      sum.key = {.bucket = row->key.bucket, .op = kFoldedRows};
      sum.work.add(row->work);
    } else {
      taken += text.size() + kAroundRow;
      texts.push_back(std::move(text));
    }
  }
  for (const auto& [bucket, row] : rest) texts.push_back(row_text(row, batches));
  return texts;
}

/// All but the rows.
void write_head(JsonWriter& json, const Profile& profile) {
  json.member("input", profile.input).member("content", hex(profile.content));
  json.key("rank");
  if (profile.rank == kAbsent) {
    json.null();
  } else {
    json.integer(profile.rank);
  }
  json.member("started_unix_ns", profile.started_unix_ns)
      .member("step_name", profile.step_name)
      .member("steps_left_out", profile.steps_left_out)
      .member("on_device", profile.on_device)
      .member("clock_mhz", profile.clock_mhz);
  write_integers(json, "lengths_ns", profile.lengths_ns);
  write_integers(json, "batches", profile.batches);
  json.key("counters").array(kJsonLines);
  for (const Counter& counter : profile.counters) {
    json.object(kJsonInline)
        .member("id", counter.id)
        .member("title", counter.title)
        .member("unit", counter.unit)
        .member("value", counter.value)
        .member("per_step", counter.per_step)
        .end();
  }
  json.end().key("conditions").array(kJsonLines);
  for (const Condition& condition : profile.conditions) {
    json.object(kJsonInline)
        .member("id", condition.id)
        .member("title", condition.title)
        .member("value", condition.value)
        .end();
  }
  json.end();
}

void write_profile(JsonWriter& json, const Profile& profile, std::size_t room_for_rows) {
  json.object(kJsonLines);
  write_head(json, profile);
  json.key("rows").array(kJsonLines);
  for (const std::string& row : row_texts(profile, room_for_rows)) json.raw(row);
  json.end().end();
}

void write_snapshot(JsonWriter& json, const Snapshot& snapshot, std::size_t room_for_rows) {
  json.object(kJsonLines).member("saved", snapshot.saved);
  json.key("runs").array(kJsonLines);
  for (const Run& run : snapshot.runs) {
    json.array(kJsonLines);
    for (const Profile& profile : run) write_profile(json, profile, room_for_rows);
    json.end();
  }
  json.end().end();
}

std::string text_with(const SavedBaseline& baseline, std::size_t room_for_rows) {
  std::string out;
  JsonWriter json(out, kJsonLines);
  json.object().member("schema", std::string(kBaselineSchema) + std::to_string(kBaselineVersion));
  write_snapshot(json.key("last"), baseline.last, room_for_rows);
  json.key("accepted");
  if (baseline.accepted) {
    write_snapshot(json, *baseline.accepted, room_for_rows);
  } else {
    json.null();
  }
  json.end();
  return out + "\n";
}

std::size_t recordings_of(const Snapshot& snapshot) {
  std::size_t count = 0;
  for (const Run& run : snapshot.runs) count += run.size();
  return count;
}

std::int64_t steps_of(const Snapshot& snapshot) {
  std::int64_t steps = 0;
  for (const Run& run : snapshot.runs) {
    for (const Profile& profile : run) steps += profile.steps();
  }
  return steps;
}

/// For as much as can be kept of each snapshot alone, so that a file with two is never too large.
constexpr std::size_t kLargestSnapshot = kLargestBaseline / 2 - 100;

}  // namespace

Result<std::string> baseline_text(const SavedBaseline& baseline) {
  const std::size_t snapshots = baseline.accepted ? 2 : 1;
  const std::size_t largest = snapshots * kLargestSnapshot;
  std::string least = text_with(baseline, 0);
  const SavedBaseline alone{.last = baseline.last, .accepted = {}};
  if (text_with(alone, 0).size() > kLargestSnapshot || least.size() > largest)
    return Error{ErrorCode::invalid_argument,
                 "a baseline is below 200 kB, and " + std::to_string(steps_of(baseline.last)) +
                     " steps in " + std::to_string(recordings_of(baseline.last)) +
                     " recordings do not fit; save fewer, for example with --steps 1-500"};
  std::size_t recordings = recordings_of(baseline.last);
  if (baseline.accepted) recordings += recordings_of(*baseline.accepted);
  // What is free is divided equally; the folded rows of `least` are counted again, to be safe.
  return text_with(baseline, (largest - least.size()) / recordings);
}

std::string version_note(const SavedBaseline& baseline) {
  if (baseline.version == kBaselineVersion) return {};
  return "it was saved by an older Fathom (" + std::string(kBaselineSchema) +
         std::to_string(baseline.version) +
         "), which did not know the phases of rows; times and counts are checked as ever. Save it "
         "anew, and fathom compare divides its steps by phase, too";
}

bool looks_like_baseline(std::string_view text) {
  const std::string_view head = text.substr(0, kBaselineHead);
  return head.find(kBaselineSchema) != std::string_view::npos && head.starts_with('{');
}

}  // namespace fathom
