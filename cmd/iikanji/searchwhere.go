package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
)

// A tellingField is the field of a search that tells after each observation where the time
// goes.
type tellingField struct {
	*field.Field
	say func(line string)
}

// Observe implements tune.Field.
func (f *tellingField) Observe(ctx context.Context, spec load.Spec) (*diagnose.Diagnosis, []iikanji.Fact, error) {
	d, known, err := f.Field.Observe(ctx, spec)
	if err == nil {
		for _, line := range whereTimeGoes(d) {
			f.say(line)
		}
	}
	return d, known, err
}

// mostTold is how many causes are told after an observation.
const mostTold = 3

// whereTimeGoes tells who uses the CPUs, and the causes whose cure promises most.
func whereTimeGoes(d *diagnose.Diagnosis) (lines []string) {
	if text := cpuText(d.Run); text != "" {
		lines = append(lines, "where the CPU time goes: "+text)
	}
	found, _ := tune.Candidates(d)
	slices.SortStableFunc(found, func(a, b search.Candidate) int { return cmp.Compare(b.Gain, a.Gain) })
	seen := map[string]bool{}
	for _, c := range found {
		if seen[c.Cause()] || len(seen) == mostTold {
			continue
		}
		seen[c.Cause()] = true
		lines = append(lines, fmt.Sprintf("  %s: %s (a cure may bring %+.0f %%)", c.Code, c.Claim, 100*math.Expm1(c.Gain)))
	}
	return lines
}

// leastToldShare is the least share of the CPU time that is told.
const leastToldShare = 0.01

// cpuText is the share of each service of the stack in its CPU time, the largest first.
func cpuText(run *iikanji.Run) string {
	all := 0.0
	var used []iikanji.Usage
	for _, u := range run.Usage {
		if u.Who != "generator" && u.Who != "other" {
			used, all = append(used, u), all+u.Share
		}
	}
	slices.SortStableFunc(used, func(a, b iikanji.Usage) int { return cmp.Compare(b.Share, a.Share) })
	var parts []string
	for _, u := range used {
		if all > 0 && u.Share >= leastToldShare*all {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", u.Who, 100*u.Share/all))
		}
	}
	return strings.Join(parts, ", ")
}
