// The outcome of a check as JUnit's XML, which CI systems show as tests.
#pragma once

#include <cstdint>
#include <string>

#include "compare/check.h"

namespace fathom {

/// What a budget of which nothing is certain counts as.
enum class Undecided : std::uint8_t { open, pass, fail };

/// A test suite with a test case for each budget. Over is a failure; what is undecided is an
/// error, or skipped (`pass`), or a failure (`fail`).
std::string render_check_junit(const CheckedRuns& checked, Undecided undecided);

}  // namespace fathom
