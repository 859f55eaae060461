# html.cmake - the parts of a report's page as C arrays. Included by CMakeLists.txt it finds D3 and adds the rule; run with
# cmake -P (PARTS, OUT) it is the rule.
if(CMAKE_SCRIPT_MODE_FILE)
  set(code "/* made by host/report/page/html.cmake */\n#include \"report/page/html_parts.h\"\n")
  set(table "")
  set(i 0)
  foreach(file ${PARTS})
    get_filename_component(name ${file} NAME)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(APPEND code "static const unsigned char part_${i}[] = { ${bytes} 0 };\n")
    string(APPEND table "    { \"${name}\", (const char *)part_${i}, sizeof part_${i} - 1 },\n")
    math(EXPR i "${i} + 1")
  endforeach()
  file(WRITE ${OUT} "${code}const spot_html_part spot_html_parts[] = {\n${table}    { 0, 0, 0 }\n};\n")
  return()
endif()

find_file(D3 d3.min.js PATHS /usr/share/javascript/d3 /usr/share/nodejs/d3/dist /usr/share/nodejs/d3 NO_DEFAULT_PATH)
if(NOT D3)
  message(FATAL_ERROR "D3 is not here, which reports need: apt-get install libjs-d3 (tools/setup does), or say where: "
    "-DD3=/path/of/d3.min.js, version 3.5")
endif()
file(STRINGS ${D3} d3_version REGEX "version:\"3[.]5" LIMIT_COUNT 1)
if(NOT d3_version)
  message(FATAL_ERROR "${D3} is not D3 3.5, which the report's page is written for (Debian's libjs-d3)")
endif()
file(GLOB SPOT_PAGE CONFIGURE_DEPENDS host/report/page/*.css host/report/page/page_*.js host/report/page/*.html)
list(APPEND SPOT_PAGE ${D3})
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/html_parts.c
  COMMAND ${CMAKE_COMMAND} "-DPARTS=${SPOT_PAGE}" -DOUT=${CMAKE_BINARY_DIR}/html_parts.c
    -P ${CMAKE_SOURCE_DIR}/host/report/page/html.cmake
  DEPENDS ${SPOT_PAGE} ${CMAKE_SOURCE_DIR}/host/report/page/html.cmake VERBATIM)
target_sources(libspotter PRIVATE ${CMAKE_BINARY_DIR}/html_parts.c)
