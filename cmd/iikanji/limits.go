package main

import (
	"time"

	"github.com/alecthomas/kong"
)

// limits bound flags of numbers and of durations (in seconds) by their names. Tests run
// examples as they are written, with less time and fewer repetitions.
type limits map[string]float64

// bound lowers the flags of a parsed command line that are above their limits. A time
// or load of 0 is above every limit: it is no limit, or the target's own length.
func (l limits) bound(flags []*kong.Flag) {
	for _, f := range flags {
		most, has := l[f.Name]
		if !has {
			continue
		}
		switch v := f.Target.Addr().Interface().(type) {
		case *time.Duration:
			if top := time.Duration(most * float64(time.Second)); *v > top || *v == 0 && (f.Name == "time" || f.Name == "load") {
				*v = top
			}
		case *int:
			*v = min(*v, int(most))
		case *float64:
			*v = min(*v, most)
		}
	}
}
