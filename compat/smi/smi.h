/* SPDX-License-Identifier: Apache-2.0 */
/* The name under which programs written for SMI include it. */
#include <gossamer/smi/smi.h>
