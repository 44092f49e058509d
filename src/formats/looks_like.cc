// Guesses what a file that is not a trace is, by magic numbers and first words.
#include "formats/looks_like.h"

#include <algorithm>
#include <string_view>

#include "formats/other_profilers.h"

namespace fathom {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

struct Magic {
  std::size_t offset;
  std::string_view bytes;
  std::string_view what;
};

// Sources: the formats' own specifications.
constexpr std::string_view kGzip = "\x1f\x8b\x08"sv;
constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd"sv;
constexpr Magic kMagics[] = {
    {0, "\x89PNG\r\n\x1a\n"sv, "a PNG image"},
    {0, "\xff\xd8\xff"sv, "a JPEG image"},
    {0, "GIF8"sv, "a GIF image"},
    {0, "%PDF-"sv, "a PDF document"},
    {0, "PK\3\4"sv, "a ZIP archive: unpack it and pass the trace inside"},
    {0, "PK\5\6"sv, "an empty ZIP archive"},
    {0, "BZh"sv, "bzip2 data: decompress it with bunzip2 first"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "xz data: decompress it with unxz first"},
    {0, "\x04\x22\x4d\x18"sv, "LZ4 data: decompress it with unlz4 first"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive: unpack it and pass the trace inside"},
    {257, "ustar"sv, "a tar archive: unpack it and pass the traces inside"},
    {0,
     "\x7f"
     "ELF"sv,
     "an ELF program or library"},
    {0, "MZ"sv, "a Windows program"},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file"},
    {0, "PAR1"sv, "a Parquet file"},
    {0, "ARROW1"sv, "an Arrow file"},
    {0, "\x93NUMPY"sv, "a NumPy array"},
};

std::string_view starting_at(std::string_view text, std::size_t offset) {
  return offset < text.size() ? text.substr(offset) : std::string_view();
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The text in lower case from its first character that is no white space, without a byte-order
/// mark.
std::string lowered(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

std::string json_kind(std::string_view text) {
  const std::string start = lowered(text);
  if (contains(text, "\"nodes\"") && contains(text, "\"schema\"")) {
    return "a PyTorch execution trace (nodes, no times): pass the Kineto trace that was recorded "
           "beside it";
  }
  if (contains(text, "\"cells\"") && contains(text, "\"nbformat\"")) return "a Jupyter notebook";
  if (start.starts_with('[')) return "JSON, a list without trace events";
  return "JSON without \"traceEvents\"";
}

std::string text_kind(std::string_view text) {
  const std::string start = lowered(text);
  if (start.empty()) return "nothing but white space";
  if (start.starts_with("<!doctype html") || start.starts_with("<html") ||
      start.starts_with("<head") || start.starts_with("<body")) {
    return "an HTML page, perhaps a login or error page that was saved instead of the trace";
  }
  if (start.starts_with("version https://git-lfs.github.com")) {
    return "a Git LFS pointer, not the file itself: run git lfs pull";
  }
  if (start.starts_with("<?xml") || start.starts_with("<svg")) return "an XML document";
  if (start.starts_with('{') || start.starts_with('[')) return json_kind(text);
  if (start.starts_with("#!")) return "a script";
  const std::string_view line = std::string_view(start).substr(0, start.find('\n'));
  if (std::ranges::count(line, ',') >= 3) return "a table of comma-separated values";
  return "plain text";
}

/// Serialized TracePacket fields: tag 0x0a, a length, and a field tag of TracePacket
/// (perfetto/protos/perfetto/trace/trace.proto). The length is at least two.
bool is_perfetto(std::string_view text) {
  if (text.size() < 4 || text[0] != '\x0a') return false;
  std::size_t at = 1;
  while (at < 5 && (static_cast<unsigned char>(text[at]) & 0x80U) != 0) ++at;
  const auto tag =
      static_cast<unsigned char>(starting_at(text, at + 1).empty() ? '\0' : text[at + 1]);
  const unsigned type = tag & 7U;
  return tag >= 8 && (type == 0 || type == 2) && contains(text, std::string_view("\0", 1));
}

bool is_text(std::string_view text) {
  const auto binary = std::ranges::count_if(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\x1b';
  });
  // A damaged text may hold a few; binary data hold them everywhere.
  return static_cast<std::size_t>(binary) * 50 <= text.size() &&
         !contains(text, std::string_view("\0", 1));
}

/// The file itself, where it ends before it shows how it is compressed.
std::string cut_header(std::string_view text) {
  const auto ends_in = [text](std::string_view magic) {
    return text.size() >= 2 && text.size() < magic.size() && magic.starts_with(text);
  };
  if (ends_in(kGzip)) return "a gzip file that ends in its header";
  if (ends_in(kZstd)) return "a zstd file that ends in its header";
  if (text.size() >= kGzip.size() && text.starts_with(kGzip.substr(0, 2)))
    return "damaged gzip data: its header names a method that there is not";
  return {};
}

/// What was compressed.
std::string contents(std::string_view text, std::string_view compression, std::string_view damage) {
  const std::string kind(compression);
  // "gzip, after 0 bytes of contents: the file ends in …"
  const std::size_t reason = damage.find(": ");
  const std::string why(reason == damage.npos ? damage : damage.substr(reason + 2));
  if (text.empty() && !why.empty()) return kind + " data without contents: " + why;
  if (text.empty()) return kind + " data of an empty file";
  const bool gzip = text.starts_with(kGzip);
  if (gzip || text.starts_with(kZstd))
    return (gzip ? "gzip"s : "zstd"s) +
           " data inside the compressed file: it was compressed twice; run " +
           (compression == "gzip" ? "gunzip" : "unzstd") + " once";
  return {};
}

}  // namespace

std::string looks_like(std::span<const std::byte> head, std::string_view compression,
                       std::string_view damage) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  std::string packed = compression.empty() ? cut_header(text) : contents(text, compression, damage);
  if (!packed.empty()) return packed;
  if (text.empty()) return "an empty file";
  if (text.starts_with("PK\3\4") && contains(text, "data.pkl")) {
    return "a file of torch.save, such as a checkpoint, which is no recording of a run: record the "
           "program with fathom run -- COMMAND";
  }
  for (const Magic& magic : kMagics) {
    if (starting_at(text, magic.offset).starts_with(magic.bytes)) return std::string(magic.what);
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return "text in UTF-16: convert it to UTF-8 first";
  }
  std::string other = binary_of_other_profiler(text);
  if (!other.empty()) return other;
  if (is_text(text)) {
    other = text_of_other_profiler(text);
    return other.empty() ? text_kind(text) : other;
  }
  if (is_perfetto(text)) return "a Perfetto trace (protobuf), which this version does not read";
  if (std::ranges::all_of(text, [](char c) { return c == '\0'; })) return "nothing but zero bytes";
  return "binary data";
}

}  // namespace fathom
