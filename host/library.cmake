# libspotter.so, for programs that are not ours, with what finds it: pkg-config's spotter.pc and CMake's Spotter::spotter. It
# exports what the public headers declare and nothing else. Sanitized builds go without it.
if(SPOT_SANITIZE)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The symbol map, from the headers: every function declared there, at the beginning of a line and not inline.
file(GLOB SPOT_HEADERS CONFIGURE_DEPENDS include/spotter/*.h)
set(SPOT_EXPORTS)
foreach(header ${SPOT_HEADERS})
  file(READ ${header} text)
  string(REGEX REPLACE "[][;]" " " text "${text}")      # which mean something to CMake's lists
  string(REGEX MATCHALL "\n[a-z][^(\n]*[ *]spot_[a-z0-9_]+ *[(]" lines "${text}")
  foreach(line ${lines})
    if(NOT line MATCHES "^\n(static|typedef|struct)")
      string(REGEX REPLACE ".*[ *](spot_[a-z0-9_]+) *[(]" "\\1" name "${line}")
      string(APPEND SPOT_EXPORTS "    ${name};\n")
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
endforeach()
file(CONFIGURE OUTPUT spotter.map CONTENT "SPOTTER_${PROJECT_VERSION_MAJOR} {\nglobal:\n${SPOT_EXPORTS}local:\n    *;\n};\n")

# The interface may change with every minor version while the major one is 0.
add_library(spotter_shared SHARED $<TARGET_OBJECTS:libspotter>)
set(SPOT_LOCALE_WRAPS snprintf vsnprintf sprintf fprintf vfprintf strtod __isoc99_sscanf __isoc99_fscanf strcasecmp strncasecmp
  __ctype_b_loc __ctype_tolower_loc)
list(TRANSFORM SPOT_LOCALE_WRAPS PREPEND LINKER:--wrap=)
set_target_properties(spotter_shared PROPERTIES OUTPUT_NAME spotter EXPORT_NAME spotter VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINKER_LANGUAGE C
  LINK_DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/spotter.map)
target_include_directories(spotter_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_options(spotter_shared PRIVATE LINKER:--version-script=${CMAKE_CURRENT_BINARY_DIR}/spotter.map
  LINKER:--no-undefined ${SPOT_LOCALE_WRAPS})
target_link_libraries(spotter_shared PRIVATE $<TARGET_PROPERTY:libspotter,INTERFACE_LINK_LIBRARIES>)

# libspotter_cpu.so tells which of several builds this CPU can load, without loading one (tools/python/spotter_program.py).
add_library(spotter_cpu SHARED host/base/cpu.c host/base/cpu_compiled.c)
target_include_directories(spotter_cpu PRIVATE host)
target_compile_options(spotter_cpu PRIVATE ${SPOT_C_FLAGS})
add_dependencies(spotter_shared spotter_cpu)

file(CONFIGURE OUTPUT spotter.pc @ONLY CONTENT [[
prefix=@CMAKE_INSTALL_PREFIX@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: Spotter
Description: Finds the blindspots of image classifiers and measures the methods that do
Version: @PROJECT_VERSION@
Cflags: -I${includedir}
Libs: -L${libdir} -lspotter
]])
write_basic_package_version_file(SpotterConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# The folder of a program or of a library, or the lib beside it, is where the plugin is looked for (kernels/open.c).
install(TARGETS spotter_shared EXPORT Spotter LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT Spotter NAMESPACE Spotter:: FILE SpotterConfig.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Spotter)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/SpotterConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Spotter)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/spotter.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY include/spotter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
