// Goes from the data set down to the first function that does something.
#include "reports/loader_transforms.h"

#include <algorithm>
#include <functional>
#include <set>
#include <span>
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
  constexpr std::string_view kNames[] = {"Compose.__call__", "Compose.forward",
                                         "Sequential.forward", "Module._wrapped_call_impl",
                                         "Module._call_impl"};
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

/// From the data set down to what does something. A profile knows who called whom, and not in
/// which call: a function only passes on where all its calls are of those that were followed. One
/// that others call, too (a module of the model's), has a row of the calls that are ours.
class Descent {
 public:
  Descent(const Trace& trace, const Profile& profile) : trace_(trace), profile_(profile) {}

  [[nodiscard]] std::vector<Transform> transforms() {
    follow();
    leave_out_those_of_others();
    std::map<Key, Transform> found;
    for (const Key& caller : followed_) {
      for (const FunctionCalls* const calls : called_by(caller)) {
        const Key key = key_of(*calls);
        if (followed_.contains(key)) continue;
        const auto& [file, line, name] = key;
        Transform& row = found.try_emplace(key, Transform{name, file, line}).first->second;
        row.calls += calls->calls;
        row.time += calls->total;
      }
    }
    std::vector<Transform> rows;
    rows.reserve(found.size());
    for (const auto& [key, transform] : found) rows.push_back(transform);
    std::ranges::stable_sort(rows, std::greater<>(), &Transform::time);
    return rows;
  }

 private:
  [[nodiscard]] Key key_of(const FunctionCalls& calls) const {
    return {trace_.text(calls.file), calls.line, trace_.text(calls.name)};
  }
  [[nodiscard]] std::span<const FunctionCalls* const> called_by(const Key& caller) const {
    const auto called = profile_.by.find(caller);
    if (called == profile_.by.end()) return {};
    return called->second;
  }
  [[nodiscard]] std::uint64_t calls_of(const Key& key) const {
    const auto calls = profile_.calls.find(key);
    return calls == profile_.calls.end() ? 0 : calls->second;
  }

  void follow() {
    for (const auto& [key, calls] : profile_.calls) {
      const auto known = profile_.known.find(key);
      const bool ours = calls > (known == profile_.known.end() ? 0 : known->second);
      if (ours && is_data_set(std::get<2>(key))) roots_.insert(key);
    }
    std::vector<Key> pending(roots_.begin(), roots_.end());
    followed_ = roots_;
    while (!pending.empty()) {
      const Key caller = pending.back();
      pending.pop_back();
      for (const FunctionCalls* const calls : called_by(caller)) {
        const Key key = key_of(*calls);
        if (!passes_on(std::get<2>(key)) || !profile_.by.contains(key)) continue;
        if (!roots_.contains(key)) ours_[key] += calls->calls;
        if (followed_.insert(key).second) pending.push_back(key);
      }
    }
  }

  void leave_out_those_of_others() {
    std::vector<Key> pending;
    for (const auto& [key, calls] : ours_)
      if (calls < calls_of(key)) pending.push_back(key);
    for (const Key& key : pending) followed_.erase(key);
    while (!pending.empty()) {
      const Key caller = pending.back();
      pending.pop_back();
      for (const FunctionCalls* const calls : called_by(caller)) {
        const Key key = key_of(*calls);
        if (roots_.contains(key) || !followed_.contains(key)) continue;
        std::uint64_t& left = ours_[key];
        left -= calls->calls;
        if (left >= calls_of(key)) continue;
        followed_.erase(key);
        pending.push_back(key);
      }
    }
  }

  const Trace& trace_;
  const Profile& profile_;
  std::set<Key> roots_;  ///< Of the data set, called by what is not recorded.
  std::set<Key> followed_;
  std::map<Key, std::uint64_t> ours_;  ///< Calls by those that were followed, but for roots.
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
