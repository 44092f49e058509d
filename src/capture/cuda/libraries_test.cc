// What libraries log, read.
#include "capture/cuda/libraries.h"

#include <gtest/gtest.h>

namespace fathom::cuda {
namespace {

TEST(LibraryCalls, TheFunctionIsTheWordBeforeTheBracket) {
  EXPECT_EQ(function_in("I! cuBLAS (v13.0) function cublasStatus_t cublasGemmEx(cublasHandle_t, "
                        "cublasOperation_t) called:",
                        "cublas"),
            "cublasGemmEx");
  EXPECT_EQ(function_in("function cudnnCreate() called:", "cudnn"), "cudnnCreate");
}

TEST(LibraryCalls, WhatNamesNoFunctionGoesOn) {
  EXPECT_EQ(function_in("i!  handle: type=cublasHandle_t; val=POINTER (IN HEX:0x0x1)", "cublas"),
            "");
  EXPECT_EQ(function_in("", "cudnn"), "");
}

TEST(LibraryCalls, ArgumentsAreTheLinesThatAreOfThisCall) {
  EXPECT_EQ(arguments_in("I! function\ni!  m: type=int; val=1\ni!  n: type=int; val=2\n"
                         "i! Time: 2026\ni!Process=1; Thread=2"),
            "m: type=int; val=1 n: type=int; val=2");
  EXPECT_EQ(arguments_in("one line"), "");
}

TEST(LibraryCalls, LongOnesAreShortened) {
  EXPECT_EQ(arguments_in("first\n" + std::string(5000, 'x')).size(), 1000U);
}

TEST(LibraryCalls, TakesAMessageInSeveralParts) {
  LibraryCalls& calls = LibraryCalls::get();
  calls.add("cudnn", {}, "function cudnnSetStream() called:");
  calls.add("cudnn", {}, "    stream: type=cudaStream_t;");
  calls.add("cublasLt", "cublasLtMatmul", "A=0x1");
  const std::vector<LibraryCall> all = calls.take();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "cudnnSetStream");
  EXPECT_EQ(all[0].arguments, "stream: type=cudaStream_t;");
  EXPECT_EQ(all[1].arguments, "A=0x1");
  EXPECT_TRUE(calls.take().empty());
}

}  // namespace
}  // namespace fathom::cuda
