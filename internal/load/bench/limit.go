package bench

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
)

// Thresholds above which the generator was the limit. They were measured with
// `go run ./bench/load -calibrate` on two cores, the generator on one, a
// single-threaded target on the other. While the target was the limit, mean
// lateness was 0.01 to 0.10 of the mean latency, at up to 0.83 of the
// generator's core. Once the generator was the limit, it was 0.55 to 1.1, at
// 0.93 and more. With another busy process on the generator's core, throughput
// at a ratio of 0.2 fell by a quarter with one actor and not at all with 64
// actors, because the target's queue hides the delay; below 0.1 it never fell.
// CPU use alone is a weaker sign: 0.83 did no harm, and a starved generator did
// harm at 0.07.
//
// The goals for an otherwise idle host are stricter (0.7 of the cores, 1 ms at
// p99). Missing them is a warning and does not void the run.
const (
	// voidShare is the CPU share without idle time left.
	voidShare = 0.95
	// voidLateness is mean lateness over mean latency: a fifth of the latency
	// attributed to the target was the generator's.
	voidLateness = 0.20
	// freeLateness is harmless: waking an idle core takes about 50 µs on the
	// measured machine, which every client pays.
	freeLateness = 200 * time.Microsecond
	// minSamples is the number of answers and of wake-ups that a mean needs.
	minSamples = 30

	warnShare    = 0.70
	warnLateness = 0.10
)

// A strain is the input of limitOf.
type strain struct {
	share          float64
	late           time.Duration // mean
	wakeUps        int64
	latency        time.Duration // mean of all answers
	answers        int64
	noPort, noFile int64
}

// ratio returns lateness over latency, 0 where lateness is harmless or the
// samples are too few.
func (s *strain) ratio() float64 {
	if s.late < freeLateness || s.wakeUps < minSamples || s.answers < minSamples || s.latency <= 0 {
		return 0
	}
	return float64(s.late) / float64(s.latency)
}

// limitOf returns why the generator was the limit, "" when it was not. warning is
// set when it was near the limit.
func limitOf(s strain) (why, warning string) {
	switch ratio := s.ratio(); {
	case s.noPort > 0:
		return fmt.Sprintf("%d connections found no free local port", s.noPort), ""
	case s.noFile > 0:
		return fmt.Sprintf("%d connections found no free file descriptor", s.noFile), ""
	case s.share >= voidShare:
		return fmt.Sprintf("it used %.0f %% of its cores", 100*s.share), ""
	case ratio >= voidLateness:
		return fmt.Sprintf("it woke up %v late on average, where answers took %v", micros(s.late), micros(s.latency)), ""
	case s.share >= warnShare:
		return "", fmt.Sprintf("the load generator used %.0f %% of its cores: near its limit", 100*s.share)
	case ratio >= warnLateness:
		return "", fmt.Sprintf("the load generator woke up %v late on average: latencies are %.0f %% too long", micros(s.late), 100*ratio)
	}
	return "", ""
}

// starved reports whether lateness is the only limit that was met: the machine
// gave the generator too little CPU time.
func (s *strain) starved() bool {
	return s.noPort == 0 && s.noFile == 0 && s.share < voidShare && s.ratio() >= voidLateness
}

func micros(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// strainOf collects the input of limitOf.
func strainOf(g *iikanji.Generator, steps []iikanji.StepStat, wakeUps int64, d *dials) strain {
	s := strain{share: g.CPUShare, late: g.LagMean, wakeUps: wakeUps, noPort: d.noPort.Load(), noFile: d.noFile.Load()}
	var total time.Duration
	for i := range steps {
		total += steps[i].Total
		s.answers += steps[i].Count - steps[i].Errors
	}
	if s.answers > 0 {
		s.latency = total / time.Duration(s.answers)
	}
	return s
}
