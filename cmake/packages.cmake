# What goes with the program where it is installed: its manual page and completion, which it makes itself, the documentation, the
# licences of what is linked in, and the bill of materials. `cmake --install --component program` has these and no SDK; CPack makes a
# package for Debian and Ubuntu of the same. tools/dist calls both.
include(GNUInstallDirs)
set(product "${PROJECT_BINARY_DIR}/product")

set(pages "")
foreach(page IN ITEMS "fathom.1=man" "fathom.bash=completion bash" "_fathom=completion zsh")
  string(REGEX MATCH "^(.*)=(.*)$" page "${page}")
  set(file "${product}/${CMAKE_MATCH_1}")
  separate_arguments(words UNIX_COMMAND "${CMAKE_MATCH_2}")
  add_custom_command(
    OUTPUT "${file}"
    COMMAND fathom ${words} > "${file}"
    DEPENDS fathom
    VERBATIM)
  list(APPEND pages "${file}")
endforeach()
find_package(Python3 COMPONENTS Interpreter REQUIRED)
set(notices --sources "${FATHOM_SOURCES}" --version "${PROJECT_VERSION}" --compiler "${CMAKE_CXX_COMPILER}" --processor
            "${CMAKE_SYSTEM_PROCESSOR}")
if(TARGET fathom_nvtx)
  list(APPEND notices --nvtx "${NVTX_INCLUDE}")
endif()
if(SKBUILD)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "import nanobind; print(nanobind.__path__[0])"
                  OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND notices --nanobind "${folder}")
endif()
add_custom_target(fathom_notices COMMAND "${Python3_EXECUTABLE}" -I -S "${PROJECT_SOURCE_DIR}/tools/notices" "${product}"
                                         ${notices}
                  BYPRODUCTS "${product}/THIRD-PARTY-NOTICES.txt" "${product}/fathom.spdx.json")
file(MAKE_DIRECTORY "${product}")
# fathom_name_program(<component> <program> <folder>): the bill of materials, installed in the folder, gets the sum of the
# program, which is stripped when it is installed. To be called after both are.
function(fathom_name_program component program folder)
  install(CODE "
    set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    set(folder \"${folder}\")
    if(NOT IS_ABSOLUTE \"\${folder}\")
      set(folder \"\${prefix}/\${folder}\")
    endif()
    execute_process(COMMAND \"${Python3_EXECUTABLE}\" -I -S \"${PROJECT_SOURCE_DIR}/tools/notices\" \"\${folder}\"
                            --program \"\${prefix}/${program}\" COMMAND_ERROR_IS_FATAL ANY)"
          COMPONENT ${component})
endfunction()
# In a wheel they stand where Python's tools look for them: what a licence asks for, and PEP 770 for the bill of materials.
if(SKBUILD)
  add_dependencies(fathom fathom_notices)
  install(FILES "${product}/THIRD-PARTY-NOTICES.txt" DESTINATION "${SKBUILD_METADATA_DIR}/licenses" COMPONENT python)
  install(FILES "${product}/fathom.spdx.json" DESTINATION "${SKBUILD_METADATA_DIR}/sboms" COMPONENT python)
endif()
# Of a build that is not shipped nobody needs it.
set(all "")
if(FATHOM_PORTABLE)
  set(all ALL)
endif()
# README and the pages that it, the manual page and the program name.
file(GLOB documents CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md" "${PROJECT_SOURCE_DIR}/docs/*.schema.json" "${PROJECT_SOURCE_DIR}/docs/img/*")
add_custom_command(
  OUTPUT "${product}/doc/README.md"
  COMMAND "${Python3_EXECUTABLE}" -I -S "${PROJECT_SOURCE_DIR}/tools/shipped_pages" "${product}/doc"
  DEPENDS "${PROJECT_SOURCE_DIR}/tools/shipped_pages" "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/LICENSE" ${documents}
  VERBATIM)
add_custom_target(fathom_product ${all} DEPENDS fathom ${pages} "${product}/doc/README.md")
add_dependencies(fathom_product fathom_notices)

install(TARGETS fathom RUNTIME COMPONENT program)
install(FILES "${product}/fathom.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT program)
install(FILES "${product}/fathom.bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT program
        RENAME fathom)
install(FILES "${product}/_fathom" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT program)
install(DIRECTORY "${product}/doc/" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/fathom" COMPONENT program)
install(FILES "${product}/THIRD-PARTY-NOTICES.txt" "${product}/fathom.spdx.json"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/fathom" COMPONENT program)
fathom_name_program(program "${CMAKE_INSTALL_BINDIR}/fathom" "${CMAKE_INSTALL_DATADIR}/doc/fathom")

set(CPACK_GENERATOR DEB)
set(CPACK_FATHOM_PROCESSOR "${CMAKE_SYSTEM_PROCESSOR}") # of ours, for tools/dist
set(CPACK_PACKAGE_NAME fathom)
set(CPACK_PACKAGE_CONTACT "The developers of Fathom")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${FATHOM_OLDEST_GLIBC})")
include(CPack)
