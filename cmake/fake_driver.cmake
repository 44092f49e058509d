# The fake of CUDA's driver, for tests of what times work on a device (C++ and Python).
add_library(fake_driver SHARED "${PROJECT_SOURCE_DIR}/tests/programs/fake_driver.cc")
target_link_libraries(fake_driver PRIVATE fathom_options)
set_target_properties(fake_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1
                                             LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fake_driver")
if(TARGET measure_test)
  target_compile_definitions(measure_test PRIVATE FATHOM_FAKE_DRIVER="${PROJECT_BINARY_DIR}/fake_driver/libcuda.so.1")
  target_link_libraries(measure_test PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(measure_test fake_driver)
endif()
