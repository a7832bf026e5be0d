package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
	"github.com/iikanji/iikanji/internal/show/timeline"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// runPage is the data of a run's page.
type runPage struct {
	*summary.Detail
	Part     *summary.Run
	Charts   []*document.Figure
	NoCharts string // why there are none
	Previous iikanji.RunID
	Next     iikanji.RunID
	Raw      bool // there are samples of its requests
	Sensors  []observe.Sensor
}

// pathNumber reads a positive number of the path.
func pathNumber(r *http.Request, name string) (int, error) {
	n, err := strconv.Atoi(r.PathValue(name))
	if err != nil || n < 1 || strconv.Itoa(n) != r.PathValue(name) {
		return 0, notFound("%q is not the number of a %s", r.PathValue(name), name)
	}
	return n, nil
}

// showRun shows one run, or with ?vs=N two runs side by side.
func (s *Server) showRun(r *http.Request) (*view, error) {
	n, err := pathNumber(r, "run")
	if err != nil {
		return nil, err
	}
	d, err := s.store.detail(n)
	if err != nil {
		return nil, noRun(n, err)
	}
	if vs := r.URL.Query().Get("vs"); vs != "" {
		return s.compareRuns(d, vs)
	}
	_, sum, err := s.store.load()
	if err != nil {
		return nil, err
	}
	p := runPage{Detail: d}
	if d.Diagnosis != nil {
		p.Sensors = d.Diagnosis.Sensors
	}
	for i := range sum.Runs {
		switch id := sum.Runs[i].ID; {
		case id == runID(n):
			p.Part = &sum.Runs[i]
		case id < runID(n):
			p.Previous = id
		case p.Next == 0:
			p.Next = id
		}
	}
	sec, err := s.seconds(r, d)
	if errors.Is(err, fs.ErrNotExist) {
		p.NoCharts = "The samples of this run's requests are not in the history."
	} else if err != nil {
		return nil, err
	}
	h, err := s.store.open()
	if err != nil {
		return nil, err
	}
	p.Raw = timeline.Has(h, d.Run.ID)
	if sec != nil && sec.Query == nil {
		p.NoCharts = "This run had no slow log, so the time of its statements by second is not known. Observed runs have it."
	}
	p.Charts = secondsFigures(sec, d, nil, nil)
	requests := ""
	if p.Raw {
		requests = runPath(d.Run.ID) + "/requests"
	}
	tables := []*Table{endpointsTable(d, nil, requests), usageTable(d), machinesTable(d), countsTable(d), sensorsTable(d), faultsTable(d)}
	if sec != nil {
		tables = append(tables, secondsTable(sec))
	}
	return &view{name: "run", title: fmt.Sprintf("Run %d", n), here: "/runs", tables: tables, data: p}, nil
}

// noRun is the error of a run that cannot be read.
func noRun(n int, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return notFound("there is no run %d in this history", n)
	}
	return err
}

// seconds reads the samples of a run, not more than a few at the same time.
func (s *Server) seconds(r *http.Request, d *summary.Detail) (*timeline.Seconds, error) {
	h, err := s.store.open()
	if err != nil {
		return nil, err
	}
	done, err := s.readRaw(r)
	if err != nil {
		return nil, err
	}
	defer done()
	return timeline.SecondsOf(h, d.Run.ID, d.Profiles)
}

// readRaw waits for its turn to read raw files.
func (s *Server) readRaw(r *http.Request) (done func(), err error) {
	select {
	case s.raw <- struct{}{}:
		return func() { <-s.raw }, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func usageTable(d *summary.Detail) *Table {
	t := &Table{Name: "usage", Caption: "CPU time by service, during the load", Columns: []Column{leftColumn("service", "service"), rightColumn("user", "user"), rightColumn("system", "system"), rightColumn("share", "share of the machine"), rightColumn("memory", "most memory")}}
	for _, u := range d.Run.Usage {
		t.Rows = append(t.Rows, []Cell{text(u.Placed()), number(u.User.Seconds(), report.Duration(u.User)), number(u.System.Seconds(), report.Duration(u.System)),
			{Text: report.Percent(u.Share), Value: u.Share, Numeric: true, Bar: u.Share}, number(float64(u.PeakRS), report.Size(u.PeakRS))})
	}
	return t
}

// machinesTable has the other machines of the site; no row where there is none.
func machinesTable(d *summary.Detail) *Table {
	t := &Table{Name: "machines", Caption: "The other machines, during the load", Columns: []Column{leftColumn("machine", "machine"), rightColumn("cores", "cores"), rightColumn("memory", "memory"),
		rightColumn("used", "CPU used"), rightColumn("clock", "clock ahead by"), rightColumn("within", "±"), rightColumn("trip", "round trip")}}
	for _, h := range d.Run.Hosts {
		row := []Cell{text(h.Name), missing(), missing(), missing(), missing(), missing(), missing()}
		if m := h.Machine; m != nil {
			row[1], row[2] = whole(m.Cores), number(float64(m.Memory), report.Size(m.Memory))
		}
		used := 0.0
		for _, u := range d.Run.Usage {
			if u.Host == h.Name {
				used += u.Share
			}
		}
		if used > 0 {
			row[3] = Cell{Text: report.Percent(used), Value: used, Numeric: true, Bar: used}
		}
		if c := h.Clock; c != nil {
			row[4], row[5] = number(c.Before.Offset.Seconds(), report.Duration(c.Before.Offset)), number(c.Before.Within().Seconds(), report.Duration(c.Before.Within()))
			row[6] = number(c.Before.Trip.Seconds(), report.Duration(c.Before.Trip))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func countsTable(d *summary.Detail) *Table {
	t := &Table{Name: "counters", Caption: "Counters of the database, during the load", Columns: []Column{leftColumn("counter", "counter"), rightColumn("total", "total"), rightColumn("each", "per request")}}
	requests := 0.0
	for _, st := range d.Run.Steps {
		requests += float64(st.Count)
	}
	for _, name := range sortedKeys(d.Run.Counts) {
		v := d.Run.Counts[name]
		t.Rows = append(t.Rows, []Cell{text(name), number(v, report.Count(int64(v))), number(v/max(requests, 1), fmt.Sprintf("%.3g", v/max(requests, 1)))})
	}
	return t
}

func sensorsTable(d *summary.Detail) *Table {
	t := &Table{Name: "sensors", Caption: "What each sensor proved", Columns: []Column{leftColumn("sensor", "sensor"), leftColumn("state", "state"), leftColumn("seen", "seen"), leftColumn("wanted", "wanted")}}
	if d.Diagnosis == nil {
		return t
	}
	state := func(ok bool) Cell {
		if ok {
			return classed("✓ proven", "keep")
		}
		return classed("✗ red, not used", "revert")
	}
	for _, x := range d.Diagnosis.Sensors {
		if x.Error != "" {
			t.Rows = append(t.Rows, []Cell{text(x.Name), state(false), text(x.Error), text("-")})
		}
		for _, p := range x.Proofs {
			t.Rows = append(t.Rows, []Cell{text(x.Name), state(p.Holds), text(p.Says), text(p.Within)})
		}
	}
	return t
}

func faultsTable(d *summary.Detail) *Table {
	t := &Table{Name: "faults", Caption: "Errors and failed checks", Columns: []Column{leftColumn("kind", "kind"), leftColumn("step", "step"), rightColumn("count", "count"), leftColumn("message", "message"), leftColumn("request", "example")}}
	for _, f := range d.Run.Faults {
		example := ""
		if f.Example != nil {
			example = f.Example.Request
		}
		t.Rows = append(t.Rows, []Cell{text(f.Kind.String()), text(f.Step), whole(int(f.Count)), text(f.Message), text(example)})
	}
	return t
}
