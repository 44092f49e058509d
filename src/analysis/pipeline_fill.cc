// Takes the device's lag off the first step's window.
#include "analysis/pipeline_fill.h"

namespace fathom {

Duration length_without_fill(const Step& first, Duration usual) {
  const Duration length = first.window.length();
  const Duration lag = first.window.end - first.host.end;
  if (lag <= Duration{} || lag > usual || lag >= length) return length;
  return length - lag;
}

}  // namespace fathom
