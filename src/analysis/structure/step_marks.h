// Where steps lie on the host: the annotations that mark them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/structure/steps.h"
#include "store/trace.h"

namespace fathom {

struct StepMarks {
  StepSource source = StepSource::whole_trace;
  bool requests = false;    ///< See Steps.
  std::string name;         ///< What repeats.
  std::vector<Step> steps;  ///< By process, then time; host spans of a process do not overlap.
};

/// Is it an annotation that a library makes by itself, by its name?
bool is_library_annotation(std::string_view name);

/// Finds ProfilerStep#N, else what repeats, else one whole-trace step. Windows are left empty.
StepMarks find_step_marks(const Trace& trace);

}  // namespace fathom
