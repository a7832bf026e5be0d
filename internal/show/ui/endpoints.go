package ui

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/otlp"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/summary"
	"github.com/iikanji/iikanji/internal/show/timeline"
)

// endpointsPage is the data of the endpoint view.
type endpointsPage struct {
	Detail *summary.Detail
	Chosen bool // the run was named in the address
	Traces bool
}

// showEndpoints shows the endpoints of a run, the latest with a valid score if none is named.
func (s *Server) showEndpoints(r *http.Request) (*view, error) {
	h, sum, err := s.store.load()
	if err != nil {
		return nil, err
	}
	run := 0
	if text := r.URL.Query().Get("run"); text != "" {
		if run, err = strconv.Atoi(text); err != nil || run < 1 {
			return nil, notFound("%q is not the number of a run", text)
		}
	}
	chosen := run > 0
	for i := range sum.Runs {
		if !chosen && sum.Runs[i].Saved && sum.Runs[i].Outcome == iikanji.Passed {
			run = int(sum.Runs[i].ID)
		}
	}
	if run == 0 {
		return nil, notFound("no run of this history passed")
	}
	d, err := s.store.detail(run)
	if err != nil {
		return nil, noRun(run, err)
	}
	requests := ""
	if timeline.Has(h, d.Run.ID) {
		requests = runPath(d.Run.ID) + "/requests"
	}
	return &view{name: "endpoints", title: "Endpoints", here: "/endpoints", tables: []*Table{endpointsTable(d, s.o.Traces, requests)}, data: endpointsPage{d, chosen, s.o.Traces != nil}}, nil
}

// An endpoint is one row of the view.
type endpoint struct {
	key                     string
	count, errors           float64
	mean, p95, total, share float64 // milliseconds
}

// endpointsOf are the steps of the load generator, or the routes of the access log
// where the generator reports no steps.
func endpointsOf(d *summary.Detail) (all []endpoint, seconds float64) {
	seconds = max(d.Run.Took.Seconds(), 1e-9)
	for _, st := range d.Run.Steps {
		if st.Count > 0 {
			all = append(all, endpoint{key: st.Step, count: float64(st.Count), errors: float64(st.Errors), mean: st.Mean.Seconds() * 1e3, p95: st.P95.Seconds() * 1e3, total: st.Total.Seconds() * 1e3})
		}
	}
	if len(all) == 0 {
		for _, p := range d.Profiles {
			for _, row := range p.Rows {
				if p.Source == iikanji.Access && row.Count > 0 {
					all = append(all, endpoint{key: row.Key, count: float64(row.Count), errors: float64(row.Errors), mean: row.Mean.Seconds() * 1e3, p95: row.P95.Seconds() * 1e3, total: row.Total.Seconds() * 1e3})
				}
			}
		}
	}
	sum := 0.0
	for _, e := range all {
		sum += e.total
	}
	for i := range all {
		if sum > 0 {
			all[i].share = all[i].total / sum
		}
	}
	return all, seconds
}

// endpointsTable is the endpoint view: average, 95th percentile, requests per minute
// and impact, which is the endpoint's share of the time of all requests. Routes with
// traces have their database calls.
func endpointsTable(d *summary.Detail, traces *otlp.Store, requests string) *Table {
	t := &Table{Name: "endpoints", Caption: "Endpoints", Columns: []Column{leftColumn("endpoint", "endpoint"), rightColumn("impact", "impact"), rightColumn("average", "average"), rightColumn("p95", "95th"),
		rightColumn("rpm", "requests/min"), rightColumn("count", "requests"), rightColumn("errors", "errors")}}
	byShape := map[string]otlp.Route{}
	if traces != nil {
		t.Columns = append(t.Columns, rightColumn("traces", "traces"), rightColumn("calls", "database calls"), rightColumn("database", "in the database"))
		for _, r := range traces.Routes() {
			byShape[otlp.Shape(r.Name)] = r
		}
	}
	all, seconds := endpointsOf(d)
	for _, e := range all {
		name := text(e.key)
		if requests != "" {
			name.Href = requests + "?step=" + nameKey(e.key)
		}
		rpm := e.count / seconds * 60
		row := []Cell{name, {Text: report.Percent(e.share), Value: e.share, Numeric: true, Bar: e.share}, number(e.mean, milliseconds(e.mean)), number(e.p95, milliseconds(e.p95)), number(rpm, report.Count(int64(rpm+0.5))),
			number(e.count, report.Count(int64(e.count))), number(e.errors, report.Count(int64(e.errors)))}
		if traces != nil {
			row = append(row, tracedCells(byShape, e.key)...)
		}
		t.Rows = append(t.Rows, row)
	}
	t.order("-impact")
	t.Columns[1].State = ""
	return t
}

// tracedCells are what the traces of an endpoint add.
func tracedCells(byShape map[string]otlp.Route, key string) []Cell {
	r, ok := byShape[otlp.Shape(key)]
	if !ok {
		return []Cell{missing(), missing(), missing()}
	}
	count := whole(r.Count)
	count.Href = "/traces?route=" + nameKey(r.Name)
	return []Cell{count, number(r.Statements, fmt.Sprintf("%.1f", r.Statements)), number(r.Database.Seconds(), report.Duration(r.Database))}
}
