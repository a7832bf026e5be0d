package isuports

import "github.com/iikanji/iikanji/internal/arena"

// What tests of the app need besides the registered arena.
var (
	ReadDataset = readDataset
	SigningKey  = signingKey
)

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
