package iikanji

import _ "embed"

//go:embed go.mod
var goMod []byte

//go:embed go.sum
var goSum []byte

// ModuleFiles returns copies of this module's go.mod and go.sum. An arena's
// app is built here as part of the module; laid into a work folder it needs
// the same pinned versions beside it, so that it builds there from the same
// module cache, also without a network.
func ModuleFiles() (mod, sum []byte) {
	return append([]byte(nil), goMod...), append([]byte(nil), goSum...)
}
