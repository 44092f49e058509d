// Keeps the tables of all code objects, and finds them.
#include "capture/python/line_table.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "capture/python/memory_limit.h"

namespace fathom::python {
namespace {

constexpr std::size_t kHeads = 4096;
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one list of the process
LineTable* heads[kHeads] = {};

LineTable*& head_of(const void* code) { return heads[mixed(code) % kHeads]; }

}  // namespace

LineTable* find_line_table(const void* code) {
  for (LineTable* each = head_of(code); each != nullptr; each = each->next)
    if (each->code == code) return each;
  return nullptr;
}

LineTable* add_line_table(PyObject* code, long first, const std::uint16_t* lines, std::size_t count,
                          const std::uint16_t* statement_lines, std::size_t statements,
                          std::size_t offsets) {
  if (statements >= kNotMet) return nullptr;
  const std::size_t bytes =
      sizeof(LineTable) + (count + offsets) * sizeof(Statement) + (statements + 1) * sizeof(bool);
  if (!MemoryLimit::take(bytes)) return nullptr;
  void* const memory = std::calloc(1, bytes);
  if (memory == nullptr) return nullptr;
  auto* const made = new (memory) LineTable;
  made->code = code;
  made->first = first;
  made->count = count;
  made->lines = reinterpret_cast<Statement*>(made + 1);
  if (count > 0) std::memcpy(made->lines, lines, count * sizeof(Statement));
  made->statements = static_cast<Statement>(statements);
  made->offsets = offsets;
  made->resumes = made->lines + count;
  for (std::size_t at = 0; at < offsets; ++at) made->resumes[at] = kNotMet;
  made->is_long = reinterpret_cast<bool*>(made->resumes + offsets);
  for (std::size_t at = 0; at < statements; ++at) made->is_long[at + 1] = statement_lines[at] > 1;
  LineTable*& head = head_of(code);
  made->next = head;
  head = made;
  return made;
}

}  // namespace fathom::python
