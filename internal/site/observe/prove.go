package observe

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// A Sensor is the reliability of one source of an observation. It is green only
// when every proof holds. Findings that need a red sensor are held back.
type Sensor struct {
	Source iikanji.Source `json:"source"`
	// Target is the service, where the target has several services with a
	// sensor of the source.
	Target string  `json:"target,omitempty"`
	Name   string  `json:"name"`
	Green  bool    `json:"green"`
	Proofs []Proof `json:"proofs"`
	Error  string  `json:"error,omitempty"` // why it could not be read at all
}

// A Proof is one comparison of what a sensor saw with an independent count.
type Proof struct {
	Says   string `json:"says"`
	Within string `json:"within"` // what would hold
	Holds  bool   `json:"holds"`
}

// Why is the reason for a red sensor, "" for a green one.
func (s Sensor) Why() string {
	var parts []string
	if s.Error != "" {
		parts = append(parts, s.Error)
	}
	for _, p := range s.Proofs {
		if !p.Holds {
			parts = append(parts, fmt.Sprintf("%s (wanted: %s)", p.Says, p.Within))
		}
	}
	return strings.Join(parts, "; ")
}

// settle makes a sensor green when it was read and every proof holds.
func (s Sensor) settle(err error) Sensor {
	s.Green = err == nil && len(s.Proofs) > 0
	if err != nil {
		s.Error = err.Error()
	}
	for _, p := range s.Proofs {
		s.Green = s.Green && p.Holds
	}
	return s
}

// ofService names the service of a sensor, where several have one like it.
func (s Sensor) ofService(name string, several bool) Sensor {
	if several {
		s.Target, s.Name = name, s.Name+" of "+name
	}
	return s
}

// Tolerances of the proofs.
const (
	leastParsed = 0.99 // share of the lines of a log
	countSlack  = 0.01 // share by which two counts of the same may differ
	// A statement's time is measured in the server, the time of the load outside
	// of it: a small difference proves nothing.
	timeSlack = 0.02
	// CPU time is counted in ticks of 10 ms, for each process by itself.
	cpuSlack  = 0.1
	maxLine   = 64 << 10 // of a log's last line, which may be unfinished
	leastTold = 0.8      // share of the seconds of the load with a sample of the host
)

// parsed proves that nearly all entries of a log were parsed.
func parsed(in *iikanji.Intake) Proof {
	share := 0.0
	if in.Lines > 0 {
		share = 1 - float64(in.Bad)/float64(max(in.Lines, in.Bad))
	}
	return Proof{fmt.Sprintf("%.2f %% of %d entries could be read", 100*share, in.Lines), fmt.Sprintf("%.0f %% or more", 100*leastParsed), share >= leastParsed}
}

// alike proves that two counts of the same agree within countSlack and a few
// that were in flight at either end.
func alike(what string, seen float64, by string, want, flight float64) Proof {
	slack := countSlack*want + flight
	return Proof{fmt.Sprintf("%s: %.0f in the log, %.0f %s", what, seen, want, by), fmt.Sprintf("a difference of %.0f or less", slack),
		seen > 0 && math.Abs(seen-want) <= slack}
}

// proveAccess compares an access log with the load generator: the requests that it
// sent and that no cache answered, in all and of each step. At both ends of the
// load as many requests are in flight as there are connections. Requests without
// a connection are not logged, and those that a client gave up on need not be.
func proveAccess(p *iikanji.Profile, run *iikanji.Run, err error) Sensor {
	s := Sensor{Source: iikanji.Access, Name: "access log"}
	if p == nil {
		return s.settle(err)
	}
	seen := 0.0
	for _, r := range p.Rows {
		seen += float64(r.Count)
	}
	sent, bySteps := proveSteps(p, run)
	flight := float64(run.Load.PeakConns + run.Load.DialFaults)
	s.Proofs = []Proof{parsed(&p.Intake)}
	if len(run.Steps) > 0 || run.Load.Requests > 0 { // an outside benchmarker may not report its requests
		s.Proofs = append(append(s.Proofs, alike("requests", seen, "sent", sent, flight)), bySteps...)
	}
	return s.settle(err)
}

// proveSlow compares a slow log with the server's counters and the clock: the
// statements cannot take longer than all connections together had during the load.
func proveSlow(p *iikanji.Profile, c counters, wall time.Duration, err error) Sensor {
	s := Sensor{Source: iikanji.Slow, Name: "slow log"}
	if p == nil {
		return s.settle(err)
	}
	logged, took := entriesOf(p), time.Duration(0)
	for _, r := range p.Rows {
		took += r.Total
	}
	want, commands := c.statements(logged)
	limit := wall.Seconds() * c.threads
	// A request that the end of the load cuts leaves its statement running, and the app
	// replaces the connection: up to two statements for each connection are counted and
	// not logged yet.
	flight := 2*c.threads + max(0, c.between)
	s.Proofs = []Proof{parsed(&p.Intake), alike("statements", logged.counted, "counted by the server", want, flight+commands),
		{fmt.Sprintf("statements took %.1f s", took.Seconds()), fmt.Sprintf("%.1f s or less, all that %.0f connections had", limit, c.threads),
			took.Seconds() <= limit*(1+timeSlack)}}
	return s.settle(err)
}

// proveHost requires a sample for nearly every second, and that all services
// together did not use more CPU time than the machine.
func proveHost(p *iikanji.Profile, wall time.Duration, err error) Sensor {
	s := Sensor{Source: iikanji.Host, Name: "host"}
	want, samples := math.Floor(wall.Seconds()), float64(p.Intake.Lines)
	s.Proofs = []Proof{{fmt.Sprintf("%.0f samples in %.0f s", samples, want), "one a second",
		want > 0 && samples > 0 && samples >= leastTold*want-1}}
	used, whole := 0.0, 0.0
	for _, r := range p.Rows {
		if r.Host.Machine != nil {
			whole = r.Total.Seconds()
		} else {
			used += r.Total.Seconds()
		}
	}
	limit := whole*(1+cpuSlack) + 0.5
	s.Proofs = append(s.Proofs, Proof{fmt.Sprintf("services used %.1f s of CPU", used), fmt.Sprintf("%.1f s or less, what the machine used", limit), used <= limit})
	return s.settle(err)
}

// proveErrors requires that all bytes written to an error log were read, except
// for an unfinished last line, and that the entries were parsed.
func proveErrors(p *iikanji.Profile, written int64) []Proof {
	read := int64(p.Intake.Bytes)
	out := []Proof{{fmt.Sprintf("%d bytes of %s read", read, p.Target), fmt.Sprintf("the %d that it wrote", written), read <= written && read >= written-maxLine}}
	if p.Intake.Lines > 0 {
		out = append(out, parsed(&p.Intake))
	}
	return out
}
