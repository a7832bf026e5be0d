package stack

import "github.com/iikanji/iikanji/internal/machine/process"

// MaybeSupervise is process.MaybeSupervise, for tests that bring a stack up.
func MaybeSupervise() { process.MaybeSupervise() }
