package main

import (
	"strings"

	"github.com/iikanji/iikanji/internal/report"
)

// number counts things in words: "1 run", "1,200 runs", "3 remedies".
func number[N int | int64](n N, thing string) string {
	if stem, ok := strings.CutSuffix(thing, "y"); ok && n != 1 {
		thing = stem + "ie"
	}
	if n != 1 {
		thing += "s"
	}
	return report.Count(int64(n)) + " " + thing
}
