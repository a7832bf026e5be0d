package isuports

import (
	"testing"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
)

// What tests of the app need besides the registered arena.
var (
	ReadDataset = readDataset
	SigningKey  = signingKey
	StrangeKey  = strangeKey
)

// OnStack runs the tests of the app on a stack; they are in the other package.
var OnStack func(t *testing.T, s *stack.Stack)

// SmallVisits is the number of visits in the initial data of tests.
func SmallVisits() (n int64) {
	ids := newIDs()
	for id := range int64(initialTenants) {
		for _, c := range smallSize.drawTenant(id+1, ids).competitions {
			n += int64(len(c.visits))
		}
	}
	return n
}

// The tests run the arena with small data.
func init() {
	for _, name := range []string{"isuports", "isuports-ruby"} {
		a, ok := arena.Find(name)
		if !ok {
			panic("BUG: " + name + " is not registered")
		}
		a.Generate, a.GeneratedVersion = a.Small.Generate, a.Small.Version
	}
}
