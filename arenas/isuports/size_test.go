package isuports

import (
	"fmt"

	"github.com/iikanji/iikanji/internal/arena"
)

// SmallSize is the initial data of tests: as many tenants as in the contest, each
// with few rows.
var SmallSize = dataSize{Players: bounds{20, 40}, HugePlayers: 150, Competitions: bounds{2, 5}, Visits: bounds{2, 6}, Scores: bounds{2, 6}}

// What tests of the app need besides the registered arena.
var (
	ReadDataset = readDataset
	SigningKey  = signingKey
)

// The tests run the arena with small data. Only this file can choose the size, so
// the program always has the contest's.
func init() {
	a, ok := arena.Find("isuports")
	if !ok {
		panic("BUG: isuports is not registered")
	}
	a.Generate, a.GeneratedVersion = SmallSize.generate, fmt.Sprint("small ", SmallSize.version())
}
