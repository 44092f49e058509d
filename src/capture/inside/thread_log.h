// ThreadLog: what one thread noted down and nobody has converted yet.
#pragma once

#include <string>

#include <fathom/record.h>

#include "capture/inside/chunks.h"
#include "capture/inside/converter.h"

namespace fathom::inside {

/// The thread itself writes events, at `next`. All else is guarded by the recorder's locks.
struct ThreadLog : detail::Buffer {
  Chunk* chunk = nullptr;          ///< That `next` and `end` are in. Null: none.
  detail::Event* taken = nullptr;  ///< Of it, what was converted already.
  ChunkQueue full;                 ///< Before it.
  ThreadState state;
  std::string name;
  bool named = false;  ///< In the capture file.
  bool ended = false;
};

}  // namespace fathom::inside
