// Renames and drops events by torch's rules.
#include "analysis/structure/torch_names.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "store/profiler_step.h"

namespace fathom {
namespace {

constexpr auto kUtilities = std::to_array<std::string_view>({
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
});

// The file does not show asynchronous events; these are the names torch itself gives
// them.
constexpr auto kAsynchronous = std::to_array<std::string_view>(
    {"nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "rccl:", "hccl:", "rpc_sync#", "rpc_async#",
     "rpc_remote#"});

struct Formula {
  std::string_view name;
  FlopsFormula formula;
};
constexpr auto kFormulas = std::to_array<Formula>({
    {"aten::mm", FlopsFormula::mm},
    {"aten::addmm", FlopsFormula::addmm},
    {"aten::bmm", FlopsFormula::bmm},
    {"aten::baddbmm", FlopsFormula::baddbmm},
    {"aten::mul", FlopsFormula::multiply},
    {"aten::add", FlopsFormula::add},
    {"aten::conv2d", FlopsFormula::conv2d},
});

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  });
}

/// "aten::add" for "aten::add.Tensor": word::word.word loses its last part; other names stay.
std::string_view without_overload(std::string_view name) {
  const std::size_t colons = name.find("::");
  const std::size_t dot = name.rfind('.');
  if (colons == std::string_view::npos || dot == std::string_view::npos || dot < colons)
    return name;
  const bool plain = is_word(name.substr(0, colons)) &&
                     is_word(name.substr(colons + 2, dot - colons - 2)) &&
                     is_word(name.substr(dot + 1));
  return plain ? name.substr(0, dot) : name;
}

TorchName properties_of(std::string_view name) {
  TorchName out;
  out.utility = std::ranges::find(kUtilities, name) != kUtilities.end();
  out.asynchronous =
      std::ranges::any_of(kAsynchronous, [&](auto prefix) { return name.starts_with(prefix); });
  const auto formula = std::ranges::find(kFormulas, name, &Formula::name);
  if (formula != kFormulas.end()) out.formula = formula->formula;
  return out;
}

}  // namespace

TorchNames::TorchNames(const Trace& trace) : trace_(trace), names_(trace.strings.size()) {
  std::vector<bool> used(names_.size());
  const auto operators = [](SliceKind kind) {
    return kind == SliceKind::cpu_op || kind == SliceKind::user_annotation;
  };
  std::array<bool, 256> has_overloads{};
  for (std::size_t i = 0; i < trace.categories.size(); ++i) {
    has_overloads[i] = operators(trace.categories[i].kind);
  }
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (has_overloads[trace.slices.category[row]]) used[trace.slices.name[row].row()] = true;
  }
  std::unordered_map<std::string_view, std::uint32_t> extra;
  for (std::size_t row = 0; row < names_.size(); ++row) {
    const std::string_view name = trace.text(StringId(row));
    std::string_view printed = used[row] ? without_overload(name) : name;
    if (is_profiler_step(printed)) printed = kProfilerSteps;
    names_[row] = properties_of(printed);
    names_[row].canonical = static_cast<std::uint32_t>(row);
    if (printed == name) continue;
    const StringId same = trace.strings.find(printed);
    if (same.valid()) {
      names_[row].canonical = same.value;
      continue;
    }
    const auto [at, added] =
        extra.try_emplace(printed, static_cast<std::uint32_t>(names_.size() + extra_.size()));
    if (added) extra_.emplace_back(printed);
    names_[row].canonical = at->second;
  }
}

std::string_view TorchNames::text(std::uint32_t canonical) const {
  return canonical < names_.size() ? trace_.text(StringId(canonical))
                                   : extra_[canonical - names_.size()];
}

}  // namespace fathom
