// Arrivals of the signal that begins and ends recording.
#pragma once

#include "capture/inside/shared_page.h"

namespace fathom::cuda {

/// From now on each arrival of that signal opens or closes the page that is returned; a handler of
/// the program's is called too. Null where that could not be arranged.
const inside::SharedPage* listen_to(int signal);

}  // namespace fathom::cuda
