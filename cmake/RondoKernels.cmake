# rondo_add_kernels(<target> <file.kernels.h>...)
#
# Puts the text of kernel files into <target>, for backends that compile kernels at run time. Each file becomes a
# generated source that defines `const char NAME_text[]`, where NAME is what the file says by
#
#     #define RONDO_KERNELS NAME
#
# The source is generated again whenever the kernel file changes. Call it in the directory that defines the target, and
# add a file to one target only: two copies of its text in one program would clash.
#
# The same file is the generator: cmake -DKERNELS=<file.kernels.h> -DTEXT=<file.c> -P RondoKernels.cmake
# Rondo embeds its own headers by it, which say no name, with -DNAME=<name> besides.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(RONDO_KERNELS_SCRIPT "${CMAKE_CURRENT_LIST_FILE}" CACHE INTERNAL "What rondo_add_kernels runs")
endif()

function(rondo_add_kernels target)
    if(NOT ARGN)
        message(FATAL_ERROR "rondo_add_kernels(${target}): no kernel file is given")
    endif()
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(C IN_LIST languages)
        set(ending c)
    else()
        set(ending cpp)
    endif()
    foreach(file IN LISTS ARGN)
        get_filename_component(kernels "${file}" ABSOLUTE)
        get_filename_component(base "${file}" NAME)
        set(text "${CMAKE_CURRENT_BINARY_DIR}/rondo_kernels/${target}/${base}.${ending}")
        add_custom_command(
            OUTPUT "${text}"
            COMMAND "${CMAKE_COMMAND}" "-DKERNELS=${kernels}" "-DTEXT=${text}" -P "${RONDO_KERNELS_SCRIPT}"
            DEPENDS "${kernels}" "${RONDO_KERNELS_SCRIPT}"
            COMMENT "Embedding ${base}"
            VERBATIM)
        target_sources(${target} PRIVATE "${text}")
    endforeach()
endfunction()

# The name of the text, which the file gives. Fails if the file cannot be embedded.
function(_rondo_kernels_name kernels out_name)
    file(STRINGS "${kernels}" defines REGEX "^[ \t]*#[ \t]*define[ \t]+RONDO_KERNELS[ \t]+[A-Za-z_]")
    list(LENGTH defines count)
    if(NOT count EQUAL 1)
        message(FATAL_ERROR "${kernels}: one line '#define RONDO_KERNELS name' is needed, ${count} are there")
    endif()
    file(STRINGS "${kernels}" includes REGEX "^[ \t]*#[ \t]*include")
    foreach(line IN LISTS includes)
        if(NOT line MATCHES "include[ \t]*<rondo/kernel_lang\\.h>")
            message(FATAL_ERROR "${kernels}: a kernel file includes <rondo/kernel_lang.h> only, not: ${line}")
        endif()
    endforeach()
    string(REGEX REPLACE "^.*RONDO_KERNELS[ \t]+([A-Za-z_][A-Za-z_0-9]*).*" "\\1" name "${defines}")
    set(${out_name} "${name}" PARENT_SCOPE)
endfunction()

# Bytes instead of a string literal: nothing needs quoting, and there is no limit of length. Bytes above 127 are
# written as characters, because a plain number would not fit a signed char.
function(_rondo_kernels_embed kernels text name)
    if(NOT name)
        _rondo_kernels_name("${kernels}" name)
    endif()
    file(READ "${kernels}" bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "0x([89a-f][0-9a-f])," "'\\\\x\\1'," bytes "${bytes}")
    string(REGEX REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
    get_filename_component(base "${kernels}" NAME)
    set(source "/* The text of ${base}, made by rondo_add_kernels. */\n")
    string(APPEND source "#ifdef __cplusplus\nextern \"C\"\n#else\nextern\n#endif\nconst char ${name}_text[];\n\n")
    string(APPEND source "const char ${name}_text[] = {\n${bytes}0x00};\n")
    file(WRITE "${text}" "${source}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    _rondo_kernels_embed("${KERNELS}" "${TEXT}" "${NAME}")
endif()
