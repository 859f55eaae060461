# The kernels once more, compiled by the host compiler against the block emulator, as a plugin like the real one; and the
# emulator's own tests. CUDA is not needed.
enable_language(CXX)

# x.cu is compiled as C++ through a file of one line, because CMake would hand x.cu itself to nvcc.
function(spot_emulated_sources list)
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    file(CONFIGURE OUTPUT emulated_${name}.cpp CONTENT "#include \"${file}\"\n")
    list(APPEND sources ${CMAKE_BINARY_DIR}/emulated_${name}.cpp)
  endforeach()
  set(${list} ${sources} PARENT_SCOPE)
endfunction()
set(SPOT_EMULATED_KERNELS ${SPOT_CUDA})
list(FILTER SPOT_EMULATED_KERNELS EXCLUDE REGEX "cudnn|cublas|library")   # tests/emulator/*_cu*.cpp stand in
spot_emulated_sources(SPOT_EMULATED ${SPOT_EMULATED_KERNELS})
spot_emulated_sources(SPOT_FAULTS ${CMAKE_SOURCE_DIR}/tests/emulator/planted_faults.cu)

function(spot_emulated target)
  target_include_directories(${target} BEFORE PRIVATE tests/emulator include kernels tests
    ${CMAKE_BINARY_DIR}/generated)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-O2 -march=${SPOT_MARCH} -fno-math-errno -Wall -Wextra
      -Wno-missing-field-initializers -ffp-contract=off>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${SPOT_WERROR}>>:-Werror>
    $<$<COMPILE_LANGUAGE:C>:${SPOT_C_FLAGS} -Wno-missing-prototypes>)
endfunction()

add_library(emulator OBJECT tests/emulator/emulator.cpp tests/emulator/fibre.cpp tests/emulator/runtime.cpp)
spot_emulated(emulator)
set_target_properties(emulator PROPERTIES CXX_VISIBILITY_PRESET hidden)

add_library(spotter_emulated MODULE ${SPOT_EMULATED} $<TARGET_OBJECTS:emulator> tests/emulator/conv_cudnn.cpp
  tests/emulator/matmul_cublas.cpp kernels/core/status.c kernels/core/arena.c)
spot_emulated(spotter_emulated)
set_target_properties(spotter_emulated PROPERTIES OUTPUT_NAME spotter_cuda LIBRARY_OUTPUT_DIRECTORY emulator
  C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
target_link_libraries(spotter_emulated PRIVATE OpenMP::OpenMP_C)

add_executable(test_emulator tests/emulator/test_emulator.c ${SPOT_FAULTS} $<TARGET_OBJECTS:emulator>)
spot_emulated(test_emulator)
target_link_libraries(test_emulator PRIVATE libspotter PkgConfig::CMOCKA)
add_test(NAME test_emulator COMMAND test_emulator)
spot_test_properties(test_emulator ${CMAKE_SOURCE_DIR}/tests/emulator/test_emulator.c)

# Parity of CPU and CUDA: test_cuda_x by itself runs on a GPU or is skipped; as test_emulated_x it runs on the emulator.
file(GLOB SPOT_CUDA_TESTS CONFIGURE_DEPENDS tests/test_cuda_*.c)
foreach(file ${SPOT_CUDA_TESTS})
  get_filename_component(name ${file} NAME_WE)
  string(REPLACE test_cuda_ test_emulated_ emulated ${name})
  add_test(NAME ${emulated} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests)
  spot_test_properties(${emulated} ${file})
  set_property(TEST ${emulated} APPEND PROPERTY ENVIRONMENT
    SPOT_PLUGIN_DIR=$<TARGET_FILE_DIR:spotter_emulated> SPOT_EMULATOR=identity)
endforeach()
