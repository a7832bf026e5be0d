package main

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/measurement"
	"github.com/iikanji/iikanji/internal/cause/topology"
)

// saidCodes are the findings that a run shows without sensors: what the benchmarker said of its
// load, and a machine that is full beside an idle one.
var saidCodes = []iikanji.Code{"BEN104", "BEN105", "BEN106", "BEN108", "TOP101"}

// saidOf are these findings of a run, one line each. routes are its requests; nil for none.
func saidOf(run *iikanji.Run, t iikanji.Target, routes *iikanji.Profile) (lines []string) {
	in := cause.Input{Run: run, Target: t}
	if routes != nil {
		in.Profiles = []iikanji.Profile{*routes}
	}
	found, err := cause.Find(in, slices.Concat(measurement.Rules(), topology.Rules()))
	if err != nil {
		return nil // without facts there is none to misread
	}
	for _, f := range found {
		if slices.Contains(saidCodes, f.Code) {
			lines = append(lines, fmt.Sprintf("%s (%s)", f.Claim, f.Code))
		}
	}
	return lines
}
