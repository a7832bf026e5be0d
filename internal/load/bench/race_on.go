//go:build race

package bench

// raceOn reports whether the race detector is on.
const raceOn = true
