// Memory that runs out, for programs that test what the recorder does then.
#pragma once

#include "tests/programs/fed.h"

namespace fathom::test {

/// From here on the allocation whose number STARVE_AT names fails, and with STARVE_ALL all after it
/// too. Numbers are from 1, over all threads; what was counted is in the file that STARVE_REPORT
/// names, which the program must not have made itself.
void starve();
/// Whether the allocation that is about to be made is to fail. Counts it.
bool fails();

}  // namespace fathom::test
