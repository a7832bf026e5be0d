package measurement

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// mostAhead is how far the clock of a machine may be from another one: times that an app
	// and its database write into one table differ by it.
	mostAhead = 500 * time.Millisecond
	// mostUnsure and mostDrift are those of the sensor: beyond them, times of that machine's
	// logs are not put beside those of others.
	mostUnsure = 20 * time.Millisecond
	mostDrift  = 50 * time.Millisecond
)

var clocks = cause.Declare(cause.PerRun, findClocks,
	cause.Cause{Code: "CLK101", Title: "clocks of the machines differ", Doubt: true, Relieves: cause.AnyLimit,
		Line:     "the clock of a machine is ahead or behind, moves, or cannot be compared",
		Remedies: []cause.Way{cause.Person}})

// findClocks reports machines whose clocks differ much from that of the machine that sends the
// load, or move.
func findClocks(v *cause.View) []iikanji.Finding {
	if v.Input.Run == nil {
		return nil
	}
	var out []iikanji.Finding
	for _, h := range v.Input.Run.Hosts {
		if h.Clock == nil {
			continue
		}
		c := *h.Clock
		f := iikanji.Finding{Code: "CLK101", Where: "host " + h.Name,
			Evidence: []iikanji.Evidence{{Source: "clock", Text: fmt.Sprintf("before the load %v ahead ± %v, after it %v ± %v", brief(c.Before.Offset), brief(c.Before.Within()),
				brief(c.After.Offset), brief(c.After.Within()))}},
			Remedies: []iikanji.Remedy{iikanji.ByPerson("host:"+h.Name, "have one time server set the clocks of all machines: systemd-timesyncd or chrony")}}
		way := "ahead"
		if c.Before.Offset < 0 {
			way = "behind"
		}
		switch {
		case c.Before.Within() > mostUnsure || c.After.Within() > mostUnsure:
			f.Claim = fmt.Sprintf("the clock of %s is known within ± %v only: times of its logs are not put beside those of others", h.Name, brief(max(c.Before.Within(), c.After.Within())))
		case c.Drift().Abs() > mostDrift:
			f.Claim = fmt.Sprintf("the clock of %s moved by %v during the load: times of its logs are not put beside those of others", h.Name, brief(c.Drift().Abs()))
		case c.Before.Offset.Abs() >= mostAhead:
			f.Claim = fmt.Sprintf("the clock of %s is %v %s: times that its services write differ from those of others", h.Name, brief(c.Before.Offset.Abs()), way)
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}

func brief(d time.Duration) time.Duration {
	if d.Abs() < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Millisecond)
}
