/* What main.c needs of the fixture, and no case does. */
#ifndef CONFORM_FIXTURE_H
#define CONFORM_FIXTURE_H

#include "conform.h"

/* NULL, with a line on stderr, if the device or its first stream cannot be had. */
struct conform *conform_fixture_open(const char *device_name, const rondo_device_desc *desc);

/* Releases everything that was kept and checks that nothing is left; ends the case if something is. */
void conform_fixture_close(struct conform *t);

#endif
