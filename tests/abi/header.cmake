# A public header compiles alone, and twice, as C11, C17 and C++17, with no warning.
string(MAKE_C_IDENTIFIER ${HEADER} name)
set(flags -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -I${INCLUDE_DIR})

function(compile compiler standard suffix)
    set(file ${WORK_DIR}/${name}.${suffix})
    file(WRITE ${file} "#include <${HEADER}>\n#include <${HEADER}>\nint main(void) { return 0; }\n")
    execute_process(COMMAND ${compiler} -std=${standard} ${flags} ${ARGN} ${file}
        RESULT_VARIABLE result ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "<${HEADER}> does not compile as ${standard}:\n${output}")
    endif()
endfunction()

compile(${CC} c11 c -Wstrict-prototypes)
compile(${CC} c17 c -Wstrict-prototypes)
if(CXX)
    compile(${CXX} c++17 cpp)
endif()
