/* Text in fixed room: never overflows, always ends with a zero, cuts what does not fit. */
#ifndef RDO_BASE_TEXT_H
#define RDO_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

typedef struct rdo_text {
    char *room;      /* NULL if size is 0 */
    size_t size;
    size_t length;   /* that the whole text would have, cut or not */
} rdo_text;

rdo_text rdo_text_in(char *room, size_t size_bytes);
void rdo_text_add(rdo_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rdo_text_add_list(rdo_text *text, const char *format, va_list list) __attribute__((format(printf, 2, 0)));
/* Copies `from` (NULL counts as empty) into a room, cut if need be. */
void rdo_text_copy(char *room, size_t size_bytes, const char *from);

#endif
