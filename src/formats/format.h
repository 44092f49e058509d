// A trace format: how to recognise it and how to read it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "store/trace.h"

namespace fathom {

class HeldFiles;

/// How to read.
struct ReadOptions {
  unsigned threads = 0;  ///< Threads to use; 0 means one per available core.
  std::size_t piece_bytes = std::size_t{512}
                            << 10;  ///< Taken by a thread at a time; fits a second-level cache.
  HeldFiles* held = nullptr;  ///< What may have the file open already; it must outlive reading.
};

/// A self-describing importer. Nothing registers itself: formats/all.cc names them all.
struct Format {
  std::string_view id;     ///< Stable name used on the command line, e.g. "chrome-json".
  std::string_view title;  ///< One line for `fathom formats`.
  /// True if the first bytes (decompressed, at most kSniffBytes) look like this format. Must not
  /// allocate.
  bool (*sniff)(std::span<const std::byte> head);
  /// Reads the input to its end. Damaged records are skipped and counted; an Error means nothing
  /// usable could be read.
  Result<Trace> (*read)(ByteSource& input, const ReadOptions& options);
};

/// Most specific first.
std::span<const Format> all_formats();

/// Opens (decompressing by content), recognises and reads one file; "-" is standard input.
Result<Trace> read_trace(std::string_view path, const ReadOptions& options);

}  // namespace fathom
