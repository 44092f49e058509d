# Counts work: tests/scaling compares what analyses do with n and with 4n events. Times would differ between machines
# and runs; how many basic blocks are entered does not.
set(FATHOM_COUNTS_WORK OFF)
if(FATHOM_TESTS AND FATHOM_SANITIZE MATCHES "address")
  set(FATHOM_COUNTS_WORK ON)
endif()

# fathom_count_work(<room>): rooms that compute count; readers, whose time is that of all tests, do not.
function(fathom_count_work room)
  if(NOT FATHOM_COUNTS_WORK)
    return()
  endif()
  if(room STREQUAL "base") # what all programs link has the counter
    target_sources(fathom_base PRIVATE "${PROJECT_SOURCE_DIR}/tests/scaling/work_count.cc")
    target_include_directories(fathom_base PRIVATE "${PROJECT_SOURCE_DIR}")
  elseif(room MATCHES "^(stats|store|export|analysis|replay|reports|rules|engine|compare|server)$")
    target_compile_options(fathom_${room} PRIVATE -fsanitize-coverage=trace-pc)
  endif()
endfunction()

# fathom_count_bytes(<test>): counts bytes that are moved, too.
function(fathom_count_bytes test)
  foreach(function IN ITEMS memmove memcpy memset memcmp)
    target_link_options(${test} PRIVATE "LINKER:--wrap=${function}")
  endforeach()
endfunction()
