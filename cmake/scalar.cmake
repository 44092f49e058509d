# fathom_scalar: the program with readers that use no vector instructions of their own (FATHOM_SCALAR, base/simd.h),
# as on a processor that simd.h has no version for. It has to pass the tests that compare readers by digest.
get_target_property(sources fathom_formats SOURCES)
add_executable(fathom_scalar src/cli/main.cc ${sources})
if(FATHOM_UNITY)
  set_target_properties(fathom_scalar PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(fathom_scalar PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
target_compile_definitions(fathom_scalar PRIVATE FATHOM_SCALAR)
# Ships nowhere, and is asked for digests only.
target_compile_options(fathom_scalar PRIVATE $<$<CONFIG:Release>:-O0>)
# The readers are defined in the program's own objects, so those of the room's library are not looked at.
target_link_libraries(fathom_scalar PRIVATE fathom_cli)

foreach(test IN ITEMS reference_test damaged_test)
  add_test(NAME reference/${test}_scalar
           COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/reference/${test}.py")
  set_tests_properties(
    reference/${test}_scalar
    PROPERTIES TIMEOUT 1500 COST 10
               # The larger recordings have no event of another shape.
               ENVIRONMENT
               "FATHOM=$<TARGET_FILE:fathom_scalar>;FATHOM_SOURCE_DIR=${PROJECT_SOURCE_DIR};FATHOM_DATA=none")
endforeach()
# Then what the plain reader found is kept.
set_tests_properties(reference/reference_test_scalar PROPERTIES DEPENDS reference/reference_test)
