# libspotter_cuda.so, if there is nvcc. The program opens it at run time, so nothing links with it. Sanitized builds run the
# kernels on the emulator only.
option(SPOT_CUDA "build libspotter_cuda.so where nvcc is" ON)
if(SPOT_SANITIZE OR NOT SPOT_CUDA)
  return()
endif()
find_program(SPOT_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda/bin)
if(NOT SPOT_NVCC)
  message(STATUS "no nvcc: libspotter_cuda.so is not built, everything runs on the CPU")
  return()
endif()

# sm_80 (A100), sm_90a (H100, H200), and for what comes later the PTX of sm_80, which needs no third run of the compiler: no
# kernel has a part for a later architecture. nvcc knows them since 12.0.
set(CMAKE_CUDA_ARCHITECTURES 80 90a-real)
execute_process(COMMAND ${SPOT_NVCC} --version OUTPUT_VARIABLE SPOT_NVCC_VERSION)
string(REGEX REPLACE ".*release ([0-9.]+).*" "\\1" SPOT_NVCC_VERSION "${SPOT_NVCC_VERSION}")
if(SPOT_NVCC_VERSION VERSION_LESS 12.0)
  message(STATUS "${SPOT_NVCC} is version ${SPOT_NVCC_VERSION}, older than 12.0: libspotter_cuda.so is not built")
  return()
endif()
set(CMAKE_CUDA_COMPILER ${SPOT_NVCC})
enable_language(CUDA)

# -fmad=false: a fused multiply-add only where one is written, as on the CPU. Division, square root and denormals keep
# nvcc's exact defaults. Everything but the entry is hidden, so that the plugin's status.c is its own.
add_library(spotter_cuda MODULE ${SPOT_CUDA_FILES} kernels/core/status.c kernels/core/arena.c)
target_include_directories(spotter_cuda PRIVATE include kernels ${CMAKE_BINARY_DIR}/generated)
set_target_properties(spotter_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Static
  C_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)
set_property(TARGET spotter_cuda PROPERTY CUDA_COMPILER_LAUNCHER
  ${CMAKE_SOURCE_DIR}/tools/ptxas_log ${CMAKE_CUDA_COMPILER_LAUNCHER})     # for tests/kernel_budget.py
target_compile_options(spotter_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false -Xptxas=-v --Werror=all-warnings>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers>
  $<$<COMPILE_LANGUAGE:C>:${SPOT_C_FLAGS}>)
target_link_libraries(spotter_cuda PRIVATE OpenMP::OpenMP_C ${CMAKE_DL_LIBS})
target_link_options(spotter_cuda PRIVATE LINKER:--no-undefined)     # else a missing symbol appears only on a GPU machine
