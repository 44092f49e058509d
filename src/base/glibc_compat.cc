// Lets the release binary, with libgcc's unwinder inside, start on a glibc older than 2.35.
//
// libgcc of gcc 12 and later finds the unwind tables of a frame through _dl_find_object, which
// glibc has since 2.35 only; everything else that we use is in 2.34. Here it is by means of
// dl_iterate_phdr, as libgcc itself did before: slower, and called only while an exception is in
// flight.
#include <cstddef>
#include <cstdint>

#include <dlfcn.h>
#include <link.h>

#ifdef DLFO_STRUCT_HAS_EH_DBASE  // glibc 2.35 and later: the headers of the machine that builds

namespace {

struct Search {
  std::uintptr_t pc;
  dl_find_object* found;
};

/// Called for each loaded object; returns 1, which ends the walk, at the one that holds the pc.
int look_into(dl_phdr_info* object, std::size_t, void* data) {
  const auto& search = *static_cast<Search*>(data);
  const ElfW(Phdr)* unwind_tables = nullptr;
  bool inside = false;
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_GNU_EH_FRAME) unwind_tables = &segment;
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (search.pc < begin || search.pc - begin >= segment.p_memsz) continue;
    inside = true;
    search.found->dlfo_map_start = reinterpret_cast<void*>(begin);
    search.found->dlfo_map_end = reinterpret_cast<void*>(begin + segment.p_memsz);
  }
  if (!inside || unwind_tables == nullptr) return inside ? -1 : 0;
  search.found->dlfo_flags = 0;
  search.found->dlfo_link_map = nullptr;  // libgcc does not look at it
  search.found->dlfo_eh_frame = reinterpret_cast<void*>(object->dlpi_addr + unwind_tables->p_vaddr);
  return 1;
}

}  // namespace

/// As glibc 2.35 documents it: 0 and the object that holds `pc`, or -1. Hidden, so that shared
/// libraries of the process keep glibc's own.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name that libgcc asks for
extern "C" [[gnu::visibility("hidden")]] int _dl_find_object(void* pc,
                                                             dl_find_object* result) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(pc), result};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}

#endif
