// Finds the GPUs that the program works on.
#include "capture/cuda/pm_driver.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "capture/cuda/driver.h"
#include "capture/cuda/folder.h"

namespace fathom::cuda {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

int PmDriver::devices() const {
  int number = 0;
  return count != nullptr && count(&number) == CUDA_SUCCESS ? number : 0;
}

bool PmDriver::in_use(int number) const {
  CUdevice handle = 0;
  unsigned flags = 0;
  int active = 0;
  return device != nullptr && state != nullptr && device(&handle, number) == CUDA_SUCCESS &&
         state(handle, &flags, &active) == CUDA_SUCCESS && active != 0;
}

int PmDriver::gpu_number(int number) const {
  CUdevice handle = 0;
  std::array<char, 32> text{};
  if (device == nullptr || bus_id == nullptr || device(&handle, number) != CUDA_SUCCESS ||
      bus_id(text.data(), static_cast<int>(text.size()), handle) != CUDA_SUCCESS)
    return number;
  return place_on_bus(names_in("/proc/driver/nvidia/gpus"), text.data()).value_or(number);
}

PmDriver pm_driver() {
  PmDriver driver;
  find_in_driver("cuDeviceGetCount", driver.count);
  find_in_driver("cuDeviceGet", driver.device);
  find_in_driver("cuDevicePrimaryCtxGetState", driver.state);
  find_in_driver("cuDeviceGetPCIBusId", driver.bus_id);
  return driver;
}

std::optional<int> place_on_bus(std::span<const std::string> folders, std::string_view bus_id) {
  std::vector<std::string> sorted;
  for (const std::string& folder : folders) sorted.push_back(lower(folder));
  std::ranges::sort(sorted);
  const auto at = std::ranges::find(sorted, lower(bus_id));
  if (at == sorted.end()) return {};
  return static_cast<int>(at - sorted.begin());
}

}  // namespace fathom::cuda
