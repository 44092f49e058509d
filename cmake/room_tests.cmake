# src/<room>/**/*_test.cc become one GoogleTest executable, <room>_test.
option(FATHOM_UNIT_TESTS "Build the unit tests of the rooms" ON)
if(CMAKE_CROSSCOMPILING)
  # The distribution's package has the sources too.
  add_subdirectory(/usr/src/googletest "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL)
else()
  find_package(GTest REQUIRED)
endif()
include(GoogleTest)

# How tests themselves are compiled: quickly, for code that runs once. What they call is optimised and checked in full,
# in the rooms. Under the sanitizers 8.7 s of g++ for one file were 3.7 s so, with its headers precompiled.
add_library(fathom_test_options INTERFACE)
target_link_libraries(fathom_test_options INTERFACE fathom_options GTest::gtest)
if(FATHOM_SANITIZE)
  target_compile_options(fathom_test_options INTERFACE -O0 -fno-sanitize=alignment,pointer-overflow)
else()
  target_compile_options(fathom_test_options INTERFACE $<$<CONFIG:Release>:-O1>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Of headers that it read precompiled, gcc 12 forgets that they are the system's, and warns about its own std::string.
  target_compile_options(fathom_test_options INTERFACE -Wno-array-bounds -Wno-stringop-overflow)
endif()
fathom_precompile(tests fathom_test_options PIE <gtest/gtest.h>)

# fathom_test(<name> SOURCES <file>... [LIBS <library>...]): a GoogleTest executable; to ctest each case is a test. Under the
# sanitizers, where a process costs more than most cases, each half of the cases is one, and in a build without unit
# tests: what is left there mostly waits, so that halves do it beside what computes.
# Tests know FATHOM_SOURCE_DIR (data lies under it) and FATHOM_BINARY (the program under test).
function(fathom_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE fathom_test_options ${arg_LIBS} GTest::gtest_main)
  fathom_busy_rooms_first(${name})
  fathom_use_precompiled(${name} tests)
  fathom_unity(${name} 60000 ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE FATHOM_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             FATHOM_BINARY="${PROJECT_BINARY_DIR}/fathom")
  if(FATHOM_UNIT_TESTS AND NOT FATHOM_SANITIZE)
    gtest_discover_tests(${name} TEST_PREFIX "${name}/" DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
    return()
  endif()
  foreach(half IN ITEMS 1 2)
    math(EXPR index "${half} - 1")
    add_test(NAME ${name}/half_${half} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name}/half_${half} PROPERTIES TIMEOUT 900 COST 15 ENVIRONMENT
                                                         "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

get_property(rooms GLOBAL PROPERTY FATHOM_ROOMS)
if(NOT FATHOM_UNIT_TESTS)
  set(rooms "")
endif()
foreach(room IN LISTS rooms)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${room}/*_test.cc")
  list(FILTER sources EXCLUDE REGEX "/glibc_compat_test\\.cc$|/src/capture/(cuda|inside|memory|nvtx|python)/")
  if(sources)
    fathom_test(${room}_test SOURCES ${sources} LIBS fathom_${room})
  endif()
endforeach()
