// The lists at the end of the overview: what takes the most time.
#pragma once

#include "analysis/operators/op_self_times.h"
#include "reports/overview_rows.h"

namespace fathom {

/// By device self time; in a trace without device activity, by host self time. Reorders the rows.
void add_top_operators(OpSelfTimes& ops, OverviewRows& rows);
void add_top_kernels(const Context& context, OverviewRows& rows);

}  // namespace fathom
