// What to run after a diagnosis.
#pragma once

#include <string>

#include "engine/diagnosis/diagnosis.h"
#include "render/style.h"

namespace fathom {

struct NextView {
  bool all = false;    ///< Everything was shown: that command is not needed.
  bool brief = false;  ///< Few: no tables and no rule where there is another.
  bool bare = false;   ///< Nothing narrower, either; of a plain program no other tables.
};

/// Lines with commands for a shell: more of this diagnosis, the tables below it, the rule of the
/// best finding, and what to focus on next. They are not wrapped; a long file name gives way to the
/// word TRACE.
std::string next_commands(const Diagnosis& diagnosis, const DiagnosisRequest& request,
                          const NextView& view, const Style& style);

}  // namespace fathom
