package api

import "math"

// LeastNoiseRuns is of how many runs a noise is at least.
const LeastNoiseRuns = 3

// A Noise is how far single runs of an unchanged site differ: the standard deviation of ln(score), of
// some runs.
type Noise struct {
	SD   float64 `json:"sd"`
	Runs int     `json:"runs"`
}

// Least is the smallest ln of a ratio of two single runs that is not chance, at 95 %.
func (n Noise) Least() float64 { return 1.96 * math.Sqrt2 * n.SD }
