#include "base/text.h"

#include <stdio.h>
#include <string.h>

rdo_text rdo_text_in(char *room, size_t size_bytes) {
    rdo_text text = {size_bytes != 0 ? room : NULL, room != NULL ? size_bytes : 0, 0};
    if (text.room != NULL) text.room[0] = '\0';
    return text;
}

void rdo_text_add_list(rdo_text *text, const char *format, va_list list) {
    size_t left = text->length < text->size ? text->size - text->length : 0;
    int added = vsnprintf(left != 0 ? text->room + text->length : NULL, left, format, list);
    if (added > 0) text->length += (size_t)added;
}

void rdo_text_add(rdo_text *text, const char *format, ...) {
    va_list list;
    va_start(list, format);
    rdo_text_add_list(text, format, list);
    va_end(list);
}

void rdo_text_copy(char *room, size_t size_bytes, const char *from) {
    size_t length = from != NULL ? strnlen(from, size_bytes - 1) : 0;
    if (length != 0) memcpy(room, from, length);
    room[length] = '\0';
}
