package ui

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
)

// A Machine is what one machine of a site did in the latest second.
type Machine struct {
	Name string
	Lost string    // why it is not reached; "" if it is
	At   time.Time // when its latest sample came; zero before the first
	// CPU is the busy share of all its cores, 0..1, and Minute that of each second of the
	// latest minute, the oldest first.
	CPU    float64
	Minute []float64
	// Bytes per second, of disks and of the network without loopback.
	Read, Written, In, Out float64
	Free                   iikanji.Bytes // memory that programs can have
}

// stale is the age from which a sample is not shown: the machine may be gone.
const stale = 5 * time.Second

// A machineView is a Machine as its row shows it.
type machineView struct {
	Name, Lost, CPU, Minute, Read, Written, In, Out, Free string
}

// machineViews are the rows of the machines; none where nothing can tell.
func (d *Day) machineViews(now time.Time) (rows []machineView) {
	if d.Machines == nil {
		return nil
	}
	for _, m := range d.Machines() {
		rows = append(rows, viewOf(m, now))
	}
	return rows
}

func viewOf(m Machine, now time.Time) machineView {
	v := machineView{Name: report.Clean(m.Name)}
	switch {
	case m.Lost != "":
		v.Lost = "lost: " + report.Clean(redact.Text(m.Lost))
	case m.At.IsZero():
		v.Lost = "not asked yet"
	case now.Sub(m.At) > stale:
		v.Lost = "no sample since " + m.At.UTC().Format("15:04:05") + " UTC"
	default:
		v.CPU, v.Minute, v.Free = fmt.Sprintf("%.0f %%", 100*m.CPU), bars(m.Minute), m.Free.String()
		v.Read, v.Written, v.In, v.Out = perSecond(m.Read), perSecond(m.Written), perSecond(m.In), perSecond(m.Out)
	}
	return v
}

// bars draws shares from 0 to 1, one column each.
func bars(shares []float64) string {
	if len(shares) == 0 {
		return ""
	}
	whole := []rune(report.Spark(append(slices.Clone(shares), 1), len(shares)+1)) // the last one is the scale
	return string(whole[:len(shares)])
}

func perSecond(bytes float64) string { return iikanji.Bytes(bytes).String() + "/s" }

// machineEvents sends the rows of the machines whenever they changed.
func (s *Server) machineEvents(w http.ResponseWriter, r *http.Request) {
	if s.o.Day == nil || s.o.Day.Machines == nil {
		s.fail(w, r, notFound("this target has no machines to show"))
		return
	}
	s.stream(w, r, func() string { return fmt.Sprint(s.o.Day.machineViews(s.o.Now())) }, func() (string, error) {
		var b bytes.Buffer
		if err := templates()["team"].ExecuteTemplate(&b, "machines", s.o.Day.machineViews(s.o.Now())); err != nil {
			return "", fmt.Errorf("rendering the machines: %w", err)
		}
		return b.String(), nil
	})
}
