// Boards of desktops and workstations with their peaks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/roofline/device_specs.h"

namespace fathom::board_specs {

// A board per paragraph reads better than a number per line.
// clang-format off
inline constexpr double kT = 1e12;
inline constexpr double kG = 1e9;
inline constexpr std::int64_t kGB = 1'000'000'000;

/// What one generation's boards share are rates per multiprocessor and clock, so that all follow
/// from the rate in single precision. Figures of each board: its product page.
struct Board {
  std::string_view name;
  std::string_view match;
  double fp32 = 0;       ///< TFLOP/s.
  double bandwidth = 0;  ///< GB/s.
  std::int64_t memory = 0;  ///< GB.
  std::int64_t l2_kib = 0;
  std::int32_t sms = 0;
};

constexpr DeviceSpec base_of(const Board& board, std::string_view source) {
  return {.name = board.name, .match = board.match,
          .fp32 = board.fp32 * kT, .bandwidth = board.bandwidth * kG, .memory = board.memory * kGB,
          .l2 = board.l2_kib << 10, .sms = board.sms, .pcie_bandwidth = 15.75 * kG,
          .source = source};
}

/// No tensor cores, and half precision at 1/64 of the rate, which nothing uses.
constexpr DeviceSpec pascal_geforce(const Board& board) {
  DeviceSpec spec = base_of(board, "NVIDIA GeForce GTX 1080 whitepaper (2016): rates per unit; "
                                   "clocks and memory from the product page");
  spec.fp64 = spec.fp32 / 32;
  spec.int8_matrix = 4 * spec.fp32;  // dp4a
  return spec;
}

/// `sums`: products in half precision whose sums are in single precision, against fp32; GeForce
/// boards run them at half of the rate of others.
constexpr DeviceSpec turing(const Board& board, double sums) {
  DeviceSpec spec = base_of(board, "NVIDIA Turing GPU architecture whitepaper (2018): rates per "
                                   "unit with FP32 sums; clocks and memory from the product page");
  spec.fp64 = spec.fp32 / 32;
  spec.fp16 = 2 * spec.fp32;
  spec.fp16_matrix = sums * spec.fp32;
  spec.int8_matrix = 16 * spec.fp32;
  return spec;
}
constexpr DeviceSpec turing_geforce(const Board& board) { return turing(board, 4); }
constexpr DeviceSpec turing_pro(const Board& board) { return turing(board, 8); }

/// From Ampere on: TF32 at half of that rate, eight-bit integers at 8 times fp32.
constexpr DeviceSpec ampere(const Board& board, double sums, std::string_view source) {
  DeviceSpec spec = base_of(board, source);
  spec.fp64 = spec.fp32 / 64;
  spec.fp16 = spec.bf16 = spec.fp32;
  spec.tf32_matrix = sums / 2 * spec.fp32;
  spec.fp16_matrix = spec.bf16_matrix = sums * spec.fp32;
  spec.int8_matrix = 8 * spec.fp32;
  spec.pcie_bandwidth = 31.5 * kG;
  return spec;
}
inline constexpr std::string_view kAmpere =
    "NVIDIA Ampere GA102 whitepaper (2021): rates per unit with FP32 sums; clocks and memory from "
    "the product page";
constexpr DeviceSpec ampere_geforce(const Board& board) { return ampere(board, 2, kAmpere); }
constexpr DeviceSpec ampere_pro(const Board& board) { return ampere(board, 4, kAmpere); }

constexpr DeviceSpec ada(const Board& board, double sums) {
  DeviceSpec spec = ampere(board, sums,
                           "NVIDIA Ada GPU architecture whitepaper (2023): rates per unit with "
                           "FP32 sums; clocks and memory from the product page");
  spec.fp8_matrix = 2 * spec.fp16_matrix;
  return spec;
}
constexpr DeviceSpec ada_geforce(const Board& board) { return ada(board, 2); }
constexpr DeviceSpec ada_pro(const Board& board) { return ada(board, 4); }

constexpr DeviceSpec blackwell(const Board& board, double sums) {
  DeviceSpec spec = ampere(board, sums,
                           "NVIDIA RTX Blackwell GPU architecture whitepaper (2025): rates per "
                           "unit with FP32 sums; clocks and memory from the product page");
  spec.fp8_matrix = 2 * spec.fp16_matrix;
  spec.fp4_matrix = 16 * spec.fp32;
  spec.pcie_bandwidth = 63 * kG;
  return spec;
}
constexpr DeviceSpec blackwell_geforce(const Board& board) { return blackwell(board, 2); }
constexpr DeviceSpec blackwell_pro(const Board& board) { return blackwell(board, 4); }

inline constexpr std::array kBoards = std::to_array<DeviceSpec>({
    pascal_geforce({.name = "GTX 1060 3GB", .match = "gtx 1060",
                    .fp32 = 3.9, .bandwidth = 192, .memory = 3, .l2_kib = 1536, .sms = 9}),
    pascal_geforce({.name = "GTX 1060", .match = "gtx 1060",
                    .fp32 = 4.4, .bandwidth = 192, .memory = 6, .l2_kib = 1536, .sms = 10}),
    pascal_geforce({.name = "GTX 1070", .match = "gtx 1070",
                    .fp32 = 6.5, .bandwidth = 256, .memory = 8, .l2_kib = 2048, .sms = 15}),
    pascal_geforce({.name = "GTX 1070 Ti", .match = "gtx 1070 ti",
                    .fp32 = 8.2, .bandwidth = 256, .memory = 8, .l2_kib = 2048, .sms = 19}),
    pascal_geforce({.name = "GTX 1080", .match = "gtx 1080",
                    .fp32 = 8.9, .bandwidth = 320, .memory = 8, .l2_kib = 2048, .sms = 20}),
    pascal_geforce({.name = "GTX 1080 Ti", .match = "gtx 1080 ti",
                    .fp32 = 11.3, .bandwidth = 484, .memory = 11, .l2_kib = 2816, .sms = 28}),
    pascal_geforce({.name = "TITAN Xp", .match = "titan xp",
                    .fp32 = 12.1, .bandwidth = 547, .memory = 12, .l2_kib = 3072, .sms = 30}),
    turing_geforce({.name = "RTX 2060", .match = "rtx 2060",
                    .fp32 = 6.5, .bandwidth = 336, .memory = 6, .l2_kib = 3072, .sms = 30}),
    turing_geforce({.name = "RTX 2060 SUPER", .match = "rtx 2060 super",
                    .fp32 = 7.2, .bandwidth = 448, .memory = 8, .l2_kib = 4096, .sms = 34}),
    turing_geforce({.name = "RTX 2070", .match = "rtx 2070",
                    .fp32 = 7.5, .bandwidth = 448, .memory = 8, .l2_kib = 4096, .sms = 36}),
    turing_geforce({.name = "RTX 2070 SUPER", .match = "rtx 2070 super",
                    .fp32 = 9.1, .bandwidth = 448, .memory = 8, .l2_kib = 4096, .sms = 40}),
    turing_geforce({.name = "RTX 2080", .match = "rtx 2080",
                    .fp32 = 10.1, .bandwidth = 448, .memory = 8, .l2_kib = 4096, .sms = 46}),
    turing_geforce({.name = "RTX 2080 SUPER", .match = "rtx 2080 super",
                    .fp32 = 11.2, .bandwidth = 496, .memory = 8, .l2_kib = 4096, .sms = 48}),
    turing_geforce({.name = "RTX 2080 Ti", .match = "rtx 2080 ti",
                    .fp32 = 13.4, .bandwidth = 616, .memory = 11, .l2_kib = 5632, .sms = 68}),
    turing_pro({.name = "TITAN RTX", .match = "titan rtx",
                .fp32 = 16.3, .bandwidth = 672, .memory = 24, .l2_kib = 6144, .sms = 72}),
    turing_pro({.name = "Quadro RTX 4000", .match = "quadro rtx 4000",
                .fp32 = 7.1, .bandwidth = 416, .memory = 8, .l2_kib = 4096, .sms = 36}),
    turing_pro({.name = "Quadro RTX 5000", .match = "quadro rtx 5000",
                .fp32 = 11.2, .bandwidth = 448, .memory = 16, .l2_kib = 4096, .sms = 48}),
    turing_pro({.name = "Quadro RTX 6000", .match = "quadro rtx 6000",
                .fp32 = 16.3, .bandwidth = 672, .memory = 24, .l2_kib = 6144, .sms = 72}),
    turing_pro({.name = "Quadro RTX 8000", .match = "quadro rtx 8000",
                .fp32 = 16.3, .bandwidth = 672, .memory = 48, .l2_kib = 6144, .sms = 72}),
    ampere_geforce({.name = "RTX 3050", .match = "rtx 3050",
                    .fp32 = 9.1, .bandwidth = 224, .memory = 8, .l2_kib = 2048, .sms = 20}),
    ampere_geforce({.name = "RTX 3060", .match = "rtx 3060",
                    .fp32 = 12.7, .bandwidth = 360, .memory = 12, .l2_kib = 3072, .sms = 28}),
    ampere_geforce({.name = "RTX 3060 Ti", .match = "rtx 3060 ti",
                    .fp32 = 16.2, .bandwidth = 448, .memory = 8, .l2_kib = 4096, .sms = 38}),
    ampere_geforce({.name = "RTX 3070", .match = "rtx 3070",
                    .fp32 = 20.3, .bandwidth = 448, .memory = 8, .l2_kib = 4096, .sms = 46}),
    ampere_geforce({.name = "RTX 3070 Ti", .match = "rtx 3070 ti",
                    .fp32 = 21.7, .bandwidth = 608, .memory = 8, .l2_kib = 4096, .sms = 48}),
    ampere_geforce({.name = "RTX 3080", .match = "rtx 3080",
                    .fp32 = 29.8, .bandwidth = 760, .memory = 10, .l2_kib = 5120, .sms = 68}),
    ampere_geforce({.name = "RTX 3080 12GB", .match = "rtx 3080",
                    .fp32 = 30.6, .bandwidth = 912, .memory = 12, .l2_kib = 6144, .sms = 70}),
    ampere_geforce({.name = "RTX 3080 Ti", .match = "rtx 3080 ti",
                    .fp32 = 34.1, .bandwidth = 912, .memory = 12, .l2_kib = 6144, .sms = 80}),
    ampere_geforce({.name = "RTX 3090", .match = "rtx 3090",
                    .fp32 = 35.6, .bandwidth = 936, .memory = 24, .l2_kib = 6144, .sms = 82}),
    ampere_geforce({.name = "RTX 3090 Ti", .match = "rtx 3090 ti",
                    .fp32 = 40, .bandwidth = 1008, .memory = 24, .l2_kib = 6144, .sms = 84}),
    ampere_pro({.name = "RTX A2000", .match = "rtx a2000",
                .fp32 = 8, .bandwidth = 288, .memory = 6, .l2_kib = 3072, .sms = 26}),
    ampere_pro({.name = "RTX A2000 12GB", .match = "rtx a2000",
                .fp32 = 8, .bandwidth = 288, .memory = 12, .l2_kib = 3072, .sms = 26}),
    ampere_pro({.name = "RTX A4000", .match = "rtx a4000",
                .fp32 = 19.2, .bandwidth = 448, .memory = 16, .l2_kib = 4096, .sms = 48}),
    ampere_pro({.name = "RTX A4500", .match = "rtx a4500",
                .fp32 = 23.7, .bandwidth = 640, .memory = 20, .l2_kib = 6144, .sms = 56}),
    ampere_pro({.name = "RTX A5000", .match = "rtx a5000",
                .fp32 = 27.8, .bandwidth = 768, .memory = 24, .l2_kib = 6144, .sms = 64}),
    ampere_pro({.name = "RTX A5500", .match = "rtx a5500",
                .fp32 = 34.1, .bandwidth = 768, .memory = 24, .l2_kib = 6144, .sms = 80}),
    ada_geforce({.name = "RTX 4060", .match = "rtx 4060",
                 .fp32 = 15.1, .bandwidth = 272, .memory = 8, .l2_kib = 24576, .sms = 24}),
    ada_geforce({.name = "RTX 4060 Ti", .match = "rtx 4060 ti",
                 .fp32 = 22.1, .bandwidth = 288, .memory = 8, .l2_kib = 32768, .sms = 34}),
    ada_geforce({.name = "RTX 4070", .match = "rtx 4070",
                 .fp32 = 29.1, .bandwidth = 504, .memory = 12, .l2_kib = 36864, .sms = 46}),
    ada_geforce({.name = "RTX 4070 SUPER", .match = "rtx 4070 super",
                 .fp32 = 35.5, .bandwidth = 504, .memory = 12, .l2_kib = 49152, .sms = 56}),
    ada_geforce({.name = "RTX 4070 Ti", .match = "rtx 4070 ti",
                 .fp32 = 40.1, .bandwidth = 504, .memory = 12, .l2_kib = 49152, .sms = 60}),
    ada_geforce({.name = "RTX 4070 Ti SUPER", .match = "rtx 4070 ti super",
                 .fp32 = 44.1, .bandwidth = 672, .memory = 16, .l2_kib = 49152, .sms = 66}),
    ada_geforce({.name = "RTX 4080", .match = "rtx 4080",
                 .fp32 = 48.7, .bandwidth = 717, .memory = 16, .l2_kib = 65536, .sms = 76}),
    ada_geforce({.name = "RTX 4080 SUPER", .match = "rtx 4080 super",
                 .fp32 = 52.2, .bandwidth = 736, .memory = 16, .l2_kib = 65536, .sms = 80}),
    ada_geforce({.name = "RTX 4090", .match = "rtx 4090",
                 .fp32 = 82.6, .bandwidth = 1008, .memory = 24, .l2_kib = 73728, .sms = 128}),
    ada_geforce({.name = "RTX 4090 D", .match = "rtx 4090 d",
                 .fp32 = 73.5, .bandwidth = 1008, .memory = 24, .l2_kib = 73728, .sms = 114}),
    ada_pro({.name = "RTX 4000 Ada", .match = "rtx 4000 ada",
             .fp32 = 26.7, .bandwidth = 360, .memory = 20, .l2_kib = 49152, .sms = 48}),
    ada_pro({.name = "RTX 4000 SFF Ada", .match = "rtx 4000 sff ada",
             .fp32 = 19.2, .bandwidth = 280, .memory = 20, .l2_kib = 49152, .sms = 48}),
    ada_pro({.name = "RTX 4500 Ada", .match = "rtx 4500 ada",
             .fp32 = 39.6, .bandwidth = 432, .memory = 24, .l2_kib = 49152, .sms = 60}),
    ada_pro({.name = "RTX 5000 Ada", .match = "rtx 5000 ada",
             .fp32 = 65.3, .bandwidth = 576, .memory = 32, .l2_kib = 65536, .sms = 100}),
    ada_pro({.name = "RTX 6000 Ada", .match = "rtx 6000 ada",
             .fp32 = 91.1, .bandwidth = 960, .memory = 48, .l2_kib = 98304, .sms = 142}),
    blackwell_geforce({.name = "RTX 5060", .match = "rtx 5060",
                       .fp32 = 19.2, .bandwidth = 448, .memory = 8, .l2_kib = 32768, .sms = 30}),
    blackwell_geforce({.name = "RTX 5060 Ti", .match = "rtx 5060 ti",
                       .fp32 = 23.7, .bandwidth = 448, .memory = 16, .l2_kib = 32768, .sms = 36}),
    blackwell_geforce({.name = "RTX 5070", .match = "rtx 5070",
                       .fp32 = 30.9, .bandwidth = 672, .memory = 12, .l2_kib = 49152, .sms = 48}),
    blackwell_geforce({.name = "RTX 5070 Ti", .match = "rtx 5070 ti",
                       .fp32 = 43.9, .bandwidth = 896, .memory = 16, .l2_kib = 49152, .sms = 70}),
    blackwell_geforce({.name = "RTX 5080", .match = "rtx 5080",
                       .fp32 = 56.3, .bandwidth = 960, .memory = 16, .l2_kib = 65536, .sms = 84}),
    blackwell_geforce({.name = "RTX 5090", .match = "rtx 5090",
                       .fp32 = 104.8, .bandwidth = 1792, .memory = 32, .l2_kib = 98304, .sms = 170}),
    blackwell_pro({.name = "RTX PRO 6000 Blackwell", .match = "rtx pro 6000 blackwell workstation",
                   .fp32 = 125, .bandwidth = 1792, .memory = 96, .l2_kib = 131072, .sms = 188}),
    blackwell_pro({.name = "RTX PRO 6000 Blackwell Max-Q", .match = "rtx pro 6000 blackwell max q",
                   .fp32 = 110, .bandwidth = 1792, .memory = 96, .l2_kib = 131072, .sms = 188}),
    blackwell_pro({.name = "RTX PRO 6000 Blackwell Server", .match = "rtx pro 6000 blackwell server",
                   .fp32 = 120, .bandwidth = 1597, .memory = 96, .l2_kib = 131072, .sms = 188}),
    {.name = "Radeon RX 7900 XTX", .match = "radeon rx 7900 xtx",
     .fp64 = 1.9 * kT, .fp32 = 61.4 * kT, .fp16 = 122.8 * kT, .bf16 = 122.8 * kT,
     .fp16_matrix = 122.8 * kT, .bf16_matrix = 122.8 * kT, .int8_matrix = 122.8 * kT,
     .bandwidth = 960 * kG, .memory = 24 * kGB, .l2 = 96 * (std::int64_t{1} << 20), .sms = 48,
     .pcie_bandwidth = 31.5 * kG,
     .source = "AMD Radeon RX 7900 XTX product page (2022); the cache is Infinity Cache, a "
               "multiprocessor is a pair of compute units, as its driver counts them"},
});
// clang-format on

}  // namespace fathom::board_specs
