// Names of devices, and the table of their peaks.
#include "analysis/roofline/device_specs.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::string found(std::string name, std::int64_t memory = 0, std::int32_t sms = 0) {
  const Device device{.name = std::move(name), .memory_bytes = memory, .sms = sms};
  const DeviceSpec* const spec = find_device_spec(all_device_specs(), device);
  return spec == nullptr ? "" : std::string(spec->name);
}

TEST(DeviceSpecs, recordedNamesFindTheirDevice) {
  EXPECT_EQ(found("Tesla V100-SXM2-16GB", 16'945'512'448), "V100 SXM2 16GB");
  EXPECT_EQ(found("Tesla V100-SXM2-32GB", 34'079'637'504), "V100 SXM2 32GB");
  EXPECT_EQ(found("Tesla V100-PCIE-16GB"), "V100 PCIe");
  EXPECT_EQ(found("Tesla T4"), "T4");
  EXPECT_EQ(found("NVIDIA A100-SXM4-80GB"), "A100 SXM 80GB");
  EXPECT_EQ(found("NVIDIA A100-PCIE-40GB"), "A100 PCIe 40GB");
  EXPECT_EQ(found("NVIDIA A100 80GB PCIe"), "A100 PCIe 80GB");
  EXPECT_EQ(found("NVIDIA A10G"), "A10G");
  EXPECT_EQ(found("NVIDIA L40S"), "L40S");
  EXPECT_EQ(found("NVIDIA GeForce RTX 3060 Ti"), "RTX 3060 Ti");
  EXPECT_EQ(found("NVIDIA GeForce RTX 3060"), "RTX 3060");
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "H100 SXM");
  EXPECT_EQ(found("NVIDIA H100 PCIe"), "H100 PCIe");
  EXPECT_EQ(found("NVIDIA H200"), "H200");
  EXPECT_EQ(found("NVIDIA GH200 480GB", 102'000'000'000), "GH200 96GB");
  EXPECT_EQ(found("NVIDIA B200"), "B200");
  EXPECT_EQ(found("NVIDIA GB200"), "GB200");
  EXPECT_EQ(found("AMD Instinct MI300X"), "MI300X");
  EXPECT_EQ(found("Tesla P100-PCIE-16GB", 17'071'734'784), "P100 PCIe 16GB");
  EXPECT_EQ(found("NVIDIA GeForce RTX 2080 Ti"), "RTX 2080 Ti");
  EXPECT_EQ(found("Quadro RTX 6000"), "Quadro RTX 6000");
  EXPECT_EQ(found("NVIDIA RTX 6000 Ada Generation"), "RTX 6000 Ada");
  EXPECT_EQ(found("NVIDIA RTX 4000 SFF Ada Generation"), "RTX 4000 SFF Ada");
  EXPECT_EQ(found("NVIDIA RTX A5000"), "RTX A5000");
  EXPECT_EQ(found("NVIDIA GeForce RTX 3080", 12'638'355'456), "RTX 3080 12GB");
  EXPECT_EQ(found("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"),
            "RTX PRO 6000 Blackwell Max-Q");
  EXPECT_EQ(found("NVIDIA RTX PRO 6000 Blackwell Workstation Edition"), "RTX PRO 6000 Blackwell");
  EXPECT_EQ(found("NVIDIA A800-SXM4-80GB"), "A800 SXM");
  EXPECT_EQ(found("NVIDIA H800"), "H800");
  EXPECT_EQ(found("NVIDIA H20"), "H20 96GB");
  EXPECT_EQ(found("NVIDIA A2"), "A2");
  EXPECT_EQ(found("AMD Instinct MI100"), "MI100");
  EXPECT_EQ(found("AMD Radeon RX 7900 XTX"), "Radeon RX 7900 XTX");
  EXPECT_EQ(found("AMD Instinct MI250X"), "MI250X (one die)");
}

TEST(DeviceSpecs, aDeviceWithoutANameIsFoundByItsSize) {
  EXPECT_EQ(found("", 206'141'652'992, 304), "MI300X");
  EXPECT_EQ(found("", 206'141'652'992, 7), "");
  EXPECT_EQ(found(""), "");
}

TEST(DeviceSpecs, strangersAndLaptopsAreNotFound) {
  EXPECT_EQ(found("Voodoo 2"), "");
  EXPECT_EQ(found("NVIDIA GeForce RTX 3080 Laptop GPU"), "");
  EXPECT_EQ(found("NVIDIA GeForce RTX 2080 Super with Max-Q Design"), "");
}

TEST(DeviceSpecs, peopleNameThemShortly) {
  const auto named = [](std::string_view name) {
    const DeviceSpec* const spec = device_spec_named(all_device_specs(), name);
    return spec == nullptr ? std::string_view() : spec->name;
  };
  EXPECT_EQ(named("h100 sxm"), "H100 SXM");
  EXPECT_EQ(named("H100-SXM"), "H100 SXM");
  EXPECT_EQ(named("mi300x"), "MI300X");
  EXPECT_EQ(named("a100"), "") << "there are several";
  EXPECT_EQ(named("L4"), "L4");
  EXPECT_EQ(named(""), "");
}

TEST(DeviceSpecs, everyRowIsCompleteAndNamedOnce) {
  std::set<std::string_view> names;
  for (const DeviceSpec& spec : all_device_specs()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_GT(spec.fp32, 1e12) << spec.name;
    EXPECT_GE(spec.peak(NumberType::fp16, true), spec.fp32) << spec.name;
    EXPECT_GT(spec.bandwidth, 1e11) << spec.name;
    EXPECT_GT(spec.memory, 1'000'000'000) << spec.name;
    EXPECT_GT(spec.l2, 0) << spec.name;
    EXPECT_GT(spec.sms, 0) << spec.name;
    EXPECT_GT(spec.pcie_bandwidth, 1e9) << spec.name;
    EXPECT_FALSE(spec.source.empty()) << spec.name;
    const Device itself{.name = std::string(spec.match), .memory_bytes = spec.memory};
    EXPECT_EQ(find_device_spec(all_device_specs(), itself)->name, spec.name);
  }
}

TEST(DeviceSpecs, thePeakDependsOnTypeAndUnit) {
  const DeviceSpec& a100 = *device_spec_named(all_device_specs(), "A100 SXM 80GB");
  EXPECT_EQ(a100.peak(NumberType::fp32, true), 19.5e12) << "tf32 must be asked for";
  EXPECT_EQ(a100.peak(NumberType::tf32, true), 156e12);
  EXPECT_EQ(a100.peak(NumberType::bf16, true), 312e12);
  EXPECT_EQ(a100.peak(NumberType::bf16, false), 39e12);
  EXPECT_EQ(a100.peak(NumberType::fp8, true), 19.5e12) << "it has no units for fp8";
}

}  // namespace
}  // namespace fathom
