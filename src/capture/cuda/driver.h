// Functions of the CUDA driver that the process has loaded.
#pragma once

namespace fathom::cuda {

/// The address of a function of the driver's, as the process has loaded it; null where it has none.
/// Never loads the driver.
void* address_in_driver(const char* name);

/// The same, into a pointer to such a function.
template <typename Function>
void find_in_driver(const char* name, Function& function) {
  function = reinterpret_cast<Function>(address_in_driver(name));
}

}  // namespace fathom::cuda
