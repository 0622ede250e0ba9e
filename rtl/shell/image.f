// SPDX-License-Identifier: Apache-2.0
// The guard of the image that is received. Paths are relative to rtl/.
-f common/common.f
shell/gs_shell_image.sv
