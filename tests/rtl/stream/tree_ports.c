// SPDX-License-Identifier: Apache-2.0
#define TREES
#include "every_port.h"

int main(void) { return every_port(); }
