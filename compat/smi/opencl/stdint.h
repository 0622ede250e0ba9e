/* SPDX-License-Identifier: Apache-2.0 */
/* For device files that include C's header: opencl.h declares what OpenCL C has of it. */
#include "opencl.h"
