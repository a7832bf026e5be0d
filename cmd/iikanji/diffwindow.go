package main

import (
	"fmt"

	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/observe"
	"github.com/iikanji/iikanji/internal/site/window"
)

// readWindow reads a folder of iikanji collect.
func readWindow(dir string) (*window.Window, *observe.Observation, error) {
	w, err := window.Load(dir)
	if err != nil {
		return nil, nil, err
	}
	h, err := history.View(dir)
	if err != nil {
		return nil, nil, err
	}
	defer h.Close()
	ids, err := h.Runs()
	if err != nil {
		return nil, nil, err
	}
	if len(ids) == 0 {
		return nil, nil, fmt.Errorf("reading %s: %w", dir, errNotCollected)
	}
	ob, _, err := observe.Recall(h, ids[len(ids)-1])
	if err != nil {
		return nil, nil, err
	}
	w.Add(ob.Profiles)
	return w, ob, nil
}

// windows compares two folders of iikanji collect.
func (c *diffCmd) windows(e *env) error {
	var sides [2]*window.Window
	for i, dir := range []string{c.Before, c.After} {
		w, _, err := readWindow(dir)
		if err != nil {
			return err
		}
		sides[i] = w
	}
	if len(sides[0].Access) == 1 && len(sides[1].Access) == 1 {
		if err := alignKeepingSeconds(sides); err != nil {
			return err
		}
	}
	cmp, err := window.Compare(sides[0], sides[1])
	if err != nil {
		return err
	}
	if c.JSON || c.Format == "json" {
		return writeJSON(e.Stdout, cmp)
	}
	return c.writeWindows(e, sides, cmp)
}

// alignKeepingSeconds gives both access profiles the same routes, unless they have
// them: alignment drops the counts by second.
func alignKeepingSeconds(sides [2]*window.Window) error {
	a, b := &sides[0].Access[0], &sides[1].Access[0]
	routes := map[string]bool{}
	for _, r := range a.Rows {
		routes[r.Key] = true
	}
	same := true
	for _, r := range b.Rows {
		same = same && routes[r.Key]
	}
	if same && len(a.Rows) == len(b.Rows) {
		return nil
	}
	return accesslog.Align(a, b)
}

// changesShown is how many changes a table shows unless --limit is given.
const changesShown = 30

func (c *diffCmd) writeWindows(e *env, sides [2]*window.Window, d *window.Comparison) error {
	limit := c.Limit
	if limit < 0 && (c.Format == "table" || c.Format == "markdown") {
		limit = changesShown
	}
	t := report.Table{Columns: []report.Column{{Name: "quantity", Left: true}, {Name: "before"}, {Name: "after"}, {Name: "ratio"}, {Name: "interval"}, {Name: "sure", Left: true}, {Name: "where", Left: true, Shrink: true}}}
	sure := 0
	for i, x := range d.Changes {
		if x.Sure {
			sure++
		}
		if limit > 0 && i >= limit {
			continue
		}
		t.Rows = append(t.Rows, changeRow(x))
	}
	out := &output{w: e.Stdout}
	if c.Format == "table" {
		out.line("%s: %s before (%d requests), %s after (%d requests); per request", report.Clean(sides[1].Site), report.Duration(sides[0].Took), d.Requests[0], report.Duration(sides[1].Took), d.Requests[1])
		out.wrapped(fmt.Sprintf("%d of %d quantities changed for sure: the interval, at %.0f %% each, excludes 1. Of as many that did not change, about %.1f would be taken for changed.",
			sure, d.Compared, 100*d.Confidence, float64(d.Compared)*(1-d.Confidence)), wideOf(e))
		out.line("")
	}
	if out.err != nil {
		return out.err
	}
	return t.Write(e.Stdout, report.Format(c.Format), e.Cols)
}

func changeRow(x window.Change) []string {
	ratio, interval, sure := "new", "-", "no"
	switch {
	case x.Quantity == window.StatementTime: // estimated: a short statement may not be seen
		ratio = "not seen"
	case x.After == 0:
		ratio = "gone"
	}
	if x.Ratio > 0 {
		ratio, interval = fmt.Sprintf("%.2f", x.Ratio), fmt.Sprintf("%.2f–%.2f", x.Lo, x.Hi)
	}
	if x.Sure {
		sure = "yes"
	}
	return []string{string(x.Quantity), amount(x.Quantity, x.Before), amount(x.Quantity, x.After), ratio, interval, sure, report.Clean(x.Where)}
}

// amount is a value with its unit.
func amount(q window.Quantity, v float64) string {
	switch q {
	case window.RouteTime, window.StatementTime, window.ServiceSeconds:
		return fmt.Sprintf("%.2f ms", 1000*v)
	case window.RouteShare, window.RouteErrors:
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.3g", v)
}
