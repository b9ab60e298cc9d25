//go:build linux

package sandbox

// auditArch is how the kernel names this machine type to filters.
const auditArch = 0xc00000b7
