// Whether a libcupti may be called: that of CUDA 13.2 ends the program where it does not start.
#pragma once

#include <array>

#include <dlfcn.h>

namespace fathom {

/// That of CUDA 13.2, with its updates, and no other: its function for the text of a result and its
/// start call each other until the stack is full, where it does not start.
inline bool is_cupti_of_13_2(void* library) {
  return dlsym(library, "cuptiActivityGetStructSize") != nullptr &&
         dlsym(library, "cuptiGetTimestamp_v2") == nullptr;
}

/// The driver's cuGetExportTable.
using ExportTable = int (*)(const void** table, const void* id);

/// Whether the driver has the table that CUPTI starts with. No header has its name; the drivers of
/// CUDA 12.2 to 12.5 have it before their cuInit, and where there is no GPU. Null: no driver.
inline bool starts_cupti(ExportTable get) {
  static constexpr std::array<unsigned char, 16> kFirst = {0x7c, 0xb6, 0x3f, 0x9b, 0x9c, 0xa4,
                                                           0x8e, 0x42, 0xa4, 0x84, 0xbe, 0xb6,
                                                           0x6e, 0x6a, 0xed, 0x7f};
  const void* table = nullptr;
  return get != nullptr && get(&table, kFirst.data()) == 0 && table != nullptr;
}

/// The driver's, loaded as CUPTI itself loads it.
inline ExportTable load_export_table() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver == nullptr ? nullptr
                           : reinterpret_cast<ExportTable>(dlsym(driver, "cuGetExportTable"));
}

}  // namespace fathom
