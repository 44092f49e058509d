// Fathom's own capture files (docs/wire.md), as `fathom run` and the SDK write them.
#include <memory>
#include <span>

#include "formats/fathom_wire/trace_maker.h"
#include "formats/format.h"
#include "wire/layout.h"
#include "wire/reader.h"

namespace fathom {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool sniff(std::span<const std::byte> head) {
  return text_of(head).starts_with(wire::kMagic.substr(0, wire::kMagicName));
}

Result<Trace> read(ByteSource& source, const ReadOptions& /*options*/) {
  const std::string_view head = text_of(source.head());
  if (head.size() >= wire::kMagic.size() && !head.starts_with(wire::kMagic)) {
    return Error{ErrorCode::unsupported,
                 "a capture file of version " +
                     std::to_string(static_cast<unsigned char>(head[wire::kMagicName])) +
                     "; this Fathom reads version 1: use the one that recorded it, or a newer one"};
  }
  own::TraceMaker maker;
  wire::Reader reader(maker);
  const std::size_t size = read_size(source, kReadBytes);
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(size);
  const std::span<std::byte> bytes(buffer.get(), size);
  while (true) {
    const Result<std::size_t> got = source.read(bytes);
    if (!got) return got.error();
    reader.feed(bytes.first(*got));
    if (*got < size) break;
  }
  reader.finish();
  const std::string_view damage = source.damage();
  Trace trace = maker.finish(reader.damage());
  if (!damage.empty()) trace.import.add(Repair::decompression, reader.bytes(), damage);
  trace.format = "fathom-wire";
  trace.bytes_read = reader.bytes();
  return trace;
}

}  // namespace

Format fathom_wire() {
  return {.id = "fathom-wire",
          .title = "Fathom's own capture files (*.fathom)",
          .sniff = sniff,
          .read = read};
}

}  // namespace fathom
