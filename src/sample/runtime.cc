// Finds _PyRuntime.
#include "sample/runtime.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "sample/elf.h"

namespace fathom::sample {
namespace {

constexpr std::uint64_t kMostSearched = std::uint64_t{64} << 20;  // bytes of one module
constexpr std::size_t kBlock = std::size_t{1} << 20;

/// A program or library in the process.
struct Module {
  LoadedElf elf;
  const Mapping* mapping;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What is most likely first: the search ends where something is found.
int rank_of(const Mapping& mapping) {
  const std::size_t name = mapping.path.rfind('/') + 1;
  return mapping.path.find("python", name) == std::string::npos ? 1 : 0;
}

std::vector<Module> find_modules(const Memory& memory, const std::vector<Mapping>& mappings) {
  std::vector<Module> modules;
  for (const Mapping& mapping : mappings) {
    const bool named = !mapping.path.empty() && mapping.path.front() != '[';
    if (mapping.offset != 0 || !mapping.readable || !named) continue;
    if (std::optional<LoadedElf> elf = LoadedElf::at(memory, mapping.begin))
      modules.push_back({std::move(*elf), &mapping});
  }
  std::ranges::stable_sort(modules, [](const Module& a, const Module& b) {
    return rank_of(*a.mapping) < rank_of(*b.mapping);
  });
  return modules;
}

/// A module's file, also one that was deleted or lies in another mount namespace.
class ModuleFile {
 public:
  ModuleFile(pid_t pid, const Mapping& mapping) {
    const std::string process = "/proc/" + std::to_string(pid);
    std::array<char, 64> range{};
    const auto end = range.data() + range.size();
    auto at = std::to_chars(range.data(), end, mapping.begin, 16).ptr;
    *at++ = '-';
    at = std::to_chars(at, end, mapping.end, 16).ptr;
    open(process + "/map_files/" + std::string(range.data(), at));
    if (fd_ < 0) open(process + "/root" + mapping.path);
  }
  ModuleFile(const ModuleFile&) = delete;
  ModuleFile& operator=(const ModuleFile&) = delete;
  ~ModuleFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] FileReader reader() const {
    return [fd = fd_](std::uint64_t offset, std::span<std::byte> to) {
      if (fd < 0 || offset > (std::uint64_t{1} << 62)) return false;
      const ssize_t got = ::pread(fd, to.data(), to.size(), static_cast<off_t>(offset));
      return got >= 0 && static_cast<std::size_t>(got) == to.size();
    };
  }

 private:
  void open(const std::string& path) {
    // Not a device or a pipe that would wait: that is what O_NONBLOCK is for.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  }
  int fd_ = -1;
};

const Mapping* first_of(const std::vector<Mapping>& mappings) {
  return mappings.empty() ? nullptr : mappings.data();
}

/// Hands the module's writable memory to `visit` in blocks that overlap, until it returns true.
template <typename Visit>
void visit_data(const Memory& memory, const LoadedElf& elf, const Visit& visit) {
  constexpr std::size_t kOverlap = 256;
  std::uint64_t left = kMostSearched;
  std::vector<std::byte> block;
  for (const LoadedElf::Segment& segment : elf.writable()) {
    for (std::uint64_t at = 0; at < segment.size && left > 0;) {
      block.resize(std::min<std::uint64_t>({kBlock, segment.size - at, left}));
      if (!memory.read(segment.begin + at, block)) break;
      if (visit(segment.begin + at, std::span<const std::byte>(block))) return;
      left -= block.size();
      if (block.size() < kBlock) break;
      at += kBlock - kOverlap;
    }
  }
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Address find_cookie(const Memory& memory, const LoadedElf& elf) {
  Address found = 0;
  visit_data(memory, elf, [&](Address begin, std::span<const std::byte> bytes) {
    const std::string_view text = text_of(bytes);
    for (std::size_t at = text.find(kOffsetsCookie); at != std::string_view::npos;
         at = text.find(kOffsetsCookie, at + 1)) {
      std::array<std::byte, kOffsetsBytes> head{};
      if ((begin + at) % 8 != 0 || !memory.read(begin + at, head) || !layout_from_offsets(head))
        continue;
      found = begin + at;
      return true;
    }
    return false;
  });
  return found;
}

std::string find_version(const Memory& memory, const LoadedElf& elf) {
  std::string found;
  visit_data(memory, elf, [&](Address, std::span<const std::byte> bytes) {
    found = version_in(text_of(bytes));
    return !found.empty();
  });
  return found;
}

std::string version_text(std::uint64_t hex) {
  const auto part = [hex](unsigned shift) { return std::to_string((hex >> shift) & 0xffU); };
  return part(24) + "." + part(16) + "." + part(8);
}

Error not_known(const std::string& version) {
  return {.code = ErrorCode::unsupported,
          .message = "CPython " + version +
                     " keeps its stacks in a way that is not known here; 3.8 to 3.14 can be read"};
}

/// The layout that the runtime states, or the one of its version.
Result<Runtime> describe(const Memory& memory, const Module& module, Address address) {
  Runtime runtime;
  runtime.address = address;
  runtime.module = module.mapping->path;
  std::array<std::byte, kOffsetsBytes> head{};
  if (memory.read(address, head) && text_of(head).starts_with(kOffsetsCookie)) {
    runtime.version = version_text(number_at<std::uint64_t>(head, 8));
    const std::optional<Layout> layout = layout_from_offsets(head);
    if (!layout) return not_known(runtime.version);
    runtime.layout = *layout;
    return runtime;
  }
  const std::optional<Address> symbol = module.elf.find("Py_Version");
  const auto hex = symbol ? memory.number<std::uint64_t>(*symbol) : std::nullopt;
  runtime.version = hex ? version_text(*hex) : find_version(memory, module.elf);
  if (runtime.version.empty()) {
    return Error{.code = ErrorCode::unsupported,
                 .message = "the version of its CPython cannot be found"};
  }
  const std::string_view text = runtime.version;
  int minor = 0;
  if (text.starts_with("3.")) std::from_chars(text.data() + 2, text.data() + text.size(), minor);
  const std::optional<Layout> layout = known_layout(minor);
  if (!layout) return not_known(runtime.version);
  runtime.layout = *layout;
  return runtime;
}

/// Does the first thread of the first interpreter say that it belongs there?
Result<void> check(const Memory& memory, const Runtime& runtime) {
  const Layout& layout = runtime.layout;
  const auto interpreter = memory.pointer(runtime.address + layout.interpreters);
  if (!interpreter || *interpreter == 0)
    return Error{.code = ErrorCode::io, .message = "its Python is just starting or ending"};
  const auto thread = memory.pointer(*interpreter + layout.interpreter_threads);
  const auto owner = thread && *thread != 0 ? memory.pointer(*thread + layout.thread_interpreter)
                                            : std::optional<Address>();
  if (!owner || *owner != *interpreter) {
    return Error{.code = ErrorCode::unsupported,
                 .message = "its CPython " + runtime.version +
                            " is not laid out as that version is, or is just starting or ending"};
  }
  return {};
}

/// Tables for debuggers may be large: only of what is `likely` to be Python they are read.
std::optional<Address> find_in_file(pid_t pid, const Module& module, bool likely) {
  const ModuleFile file(pid, *module.mapping);
  const FileReader reader = file.reader();
  if (const auto section = find_section(reader, ".PyRuntime")) return module.elf.bias() + *section;
  if (!likely) return std::nullopt;
  if (const auto symbol = find_symbol(reader, "_PyRuntime")) return module.elf.bias() + *symbol;
  return std::nullopt;
}

}  // namespace

std::string version_in(std::string_view text) {
  for (std::size_t at = text.find("3."); at != std::string_view::npos;
       at = text.find("3.", at + 1)) {
    if (at > 0 && text[at - 1] != '\0') continue;
    const std::string_view rest = text.substr(at, 250);
    std::size_t end = 2;
    int dots = 0;
    while (end < rest.size() && (is_digit(rest[end]) || (rest[end] == '.' && dots++ == 0))) ++end;
    const std::size_t open = rest.find(" (");
    if (dots < 1 || open == std::string_view::npos || open > end + 40) continue;
    const std::string_view whole = rest.substr(0, rest.find('\0'));
    if (whole.find("[GCC") != std::string_view::npos ||
        whole.find("[Clang") != std::string_view::npos)
      return std::string(rest.substr(0, end));
  }
  return {};
}

Result<Runtime> find_runtime(pid_t pid, const Memory& memory,
                             const std::vector<Mapping>& mappings) {
  const std::vector<Module> modules = find_modules(memory, mappings);
  std::optional<Error> reason;
  const auto attempt = [&](const Module& module,
                           std::optional<Address> address) -> std::optional<Runtime> {
    if (!address || *address == 0) return std::nullopt;
    Result<Runtime> runtime = describe(memory, module, *address);
    const Result<void> sound = runtime ? check(memory, *runtime) : runtime.error();
    if (sound) return std::move(*runtime);
    if (!reason) reason = sound.error();
    return std::nullopt;
  };
  for (const Module& module : modules) {
    if (auto runtime = attempt(module, module.elf.find("_PyRuntime"))) return std::move(*runtime);
  }
  if (reason) return *reason;
  for (const Module& module : modules) {
    // The program itself is mapped first.
    const bool likely = rank_of(*module.mapping) == 0 || module.mapping == first_of(mappings);
    if (auto runtime = attempt(module, find_in_file(pid, module, likely)))
      return std::move(*runtime);
  }
  if (reason) return *reason;
  for (const Module& module : modules) {
    if (auto runtime = attempt(module, find_cookie(memory, module.elf))) return std::move(*runtime);
  }
  if (reason) return *reason;
  return Error{.code = ErrorCode::not_found, .message = "no CPython is in it"};
}

}  // namespace fathom::sample
