// Goes from the data set down to the first function that does something.
#include "reports/loader_transforms.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

namespace fathom {
namespace {

/// File, line and name. Two processes have ids of their own for them.
using Key = std::tuple<std::string_view, std::uint32_t, std::string_view>;

bool ends_with_part(std::string_view name, std::string_view part) {
  return name.ends_with(part) &&
         (name.size() == part.size() || name[name.size() - part.size() - 1] == '.');
}

bool is_data_set(std::string_view name) {
  constexpr std::string_view kParts[] = {"__getitem__", "__getitems__", "__iter__"};
  return std::ranges::any_of(kParts,
                             [name](std::string_view part) { return ends_with_part(name, part); });
}

/// Does nothing to a sample but have others do it.
bool passes_on(std::string_view name) {
  constexpr std::string_view kNames[] = {"Compose.__call__", "Sequential.forward",
                                         "Module._wrapped_call_impl", "Module._call_impl"};
  constexpr std::string_view kParts[] = {"<listcomp>", "<genexpr>", "<dictcomp>"};
  const auto ends = [name](std::string_view part) { return ends_with_part(name, part); };
  return std::ranges::any_of(kNames, ends) || std::ranges::any_of(kParts, ends) ||
         is_data_set(name);
}

/// The profile of one process.
struct Profile {
  std::map<Key, std::uint64_t> calls;
  std::map<Key, std::uint64_t> known;                   ///< Calls of which the caller is known.
  std::map<Key, std::vector<const FunctionCalls*>> by;  ///< What a function called.
};

class Descent {
 public:
  Descent(const Trace& trace, const Profile& profile) : trace_(trace), profile_(profile) {}

  [[nodiscard]] std::vector<Transform> transforms() {
    for (const auto& [key, calls] : profile_.calls) {
      const auto known = profile_.known.find(key);
      const bool ours = calls > (known == profile_.known.end() ? 0 : known->second);
      if (ours && is_data_set(std::get<2>(key))) pending_.push_back(key);
    }
    while (!pending_.empty()) {
      const Key key = pending_.back();
      pending_.pop_back();
      if (seen_.insert(key).second) add_called_by(key);
    }
    std::vector<Transform> rows;
    rows.reserve(found_.size());
    for (const auto& [key, transform] : found_) rows.push_back(transform);
    std::ranges::stable_sort(rows, std::greater<>(), &Transform::time);
    return rows;
  }

 private:
  void add_called_by(const Key& caller) {
    const auto called = profile_.by.find(caller);
    if (called == profile_.by.end()) return;
    for (const FunctionCalls* const calls : called->second) {
      const Key key{trace_.text(calls->file), calls->line, trace_.text(calls->name)};
      const auto& [file, line, name] = key;
      if (passes_on(name) && profile_.by.contains(key)) {
        pending_.push_back(key);
        continue;
      }
      Transform& row = found_.try_emplace(key, Transform{name, file, line}).first->second;
      row.calls += calls->calls;
      row.time += calls->total;
    }
  }

  const Trace& trace_;
  const Profile& profile_;
  std::vector<Key> pending_;
  std::set<Key> seen_;
  std::map<Key, Transform> found_;
};

}  // namespace

std::map<std::int64_t, std::vector<Transform>> transforms_of(const Trace& trace) {
  std::map<std::int64_t, Profile> profiles;
  for (const FunctionTime& function : trace.functions)
    profiles[function.pid]
        .calls[{trace.text(function.file), function.line, trace.text(function.name)}] +=
        function.calls;
  for (const FunctionCalls& calls : trace.function_calls) {
    Profile& profile = profiles[calls.pid];
    profile.known[{trace.text(calls.file), calls.line, trace.text(calls.name)}] += calls.calls;
    profile.by[{trace.text(calls.caller_file), calls.caller_line, trace.text(calls.caller_name)}]
        .push_back(&calls);
  }
  std::map<std::int64_t, std::vector<Transform>> found;
  for (const auto& [pid, profile] : profiles) {
    std::vector<Transform> rows = Descent(trace, profile).transforms();
    if (!rows.empty()) found.emplace(pid, std::move(rows));
  }
  return found;
}

}  // namespace fathom
