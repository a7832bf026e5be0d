// Package hosttest holds an implementation of host.Host against what its callers rely
// on: one suite for this machine and for every way to another one. The host under test
// must see the files of this machine.
package hosttest

import (
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A ground is where a case works.
type ground struct {
	h   host.Host
	dir string // an empty folder, its path without links
}

// at is the path of a name in the folder.
func (g ground) at(name string) string { return g.dir + "/" + name }

// A check is one case.
type check struct {
	name string
	do   func(t *testing.T, g ground)
}

// Run runs all cases as subtests. Open returns the host for a folder that it may write
// to; it may give the same one for all.
func Run(t *testing.T, open func(t *testing.T, folder string) host.Host) {
	for _, group := range [][]check{reading, folders, writing, making, removing, beneathLinks, owners, locks, commands, signals, connections, texts} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				dir := realTempDir(t)
				c.do(t, ground{open(t, dir), dir})
			})
		}
	}
}

// Cases is how many cases Run has.
func Cases() (n int) {
	for _, group := range [][]check{reading, folders, writing, making, removing, beneathLinks, owners, locks, commands, signals, connections, texts} {
		n += len(group)
	}
	return n
}
