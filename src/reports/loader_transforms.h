// What the samples of a data set are made of: the functions that its __getitem__ calls, by process.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// A function that was called to make samples; texts are the trace's.
struct Transform {
  std::string_view name;
  std::string_view file;
  std::uint32_t line = 0;
  std::uint64_t calls = 0;
  Duration time{};  ///< With all that it called.
};

/// By process, the longest first, of the whole run; from a profile of functions with callers. A
/// data set begins where the recorder of samples calls it: at __getitem__, __getitems__ or
/// __iter__. What only passes on, as Compose, a wrapped data set or a comprehension, stands for
/// what it calls.
std::map<std::int64_t, std::vector<Transform>> transforms_of(const Trace& trace);

}  // namespace fathom
