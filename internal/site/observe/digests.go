package observe

import (
	"context"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
)

// A digestWatch reads the sums that performance_schema keeps by digest, before
// and after the load, where it is on: turning it on needs a restart of the
// database, which an observer must not do. The sums replace a slow log that does
// not see the run. They contain no single statement, connection or second.
type digestWatch struct {
	db            slowlog.Querier
	service       string // name of the database
	before, after *iikanji.Profile
	err           error // the first
}

// on reports whether the server keeps the sums.
func (w *digestWatch) on(ctx context.Context) bool {
	rows, err := w.db.QueryContext(ctx, "SELECT 1 FROM DUAL WHERE @@performance_schema AND EXISTS (SELECT 1 FROM performance_schema.setup_consumers WHERE NAME = 'statements_digest' AND ENABLED = 'YES')")
	if err != nil {
		return false
	}
	defer rows.Close()
	return rows.Next()
}

// begin reads the sums before the load, if the server has them.
func (w *digestWatch) begin(ctx context.Context) {
	if w == nil || !w.on(ctx) {
		return
	}
	if w.before, w.err = slowlog.ReadDigests(ctx, w.db, w.service, slowlog.Options{}); w.before == nil {
		w.before, w.err = &iikanji.Profile{}, nil // no statement was sent yet
	}
}

func (w *digestWatch) end(ctx context.Context) {
	if w == nil || w.before == nil || w.err != nil {
		return
	}
	w.after, w.err = slowlog.ReadDigests(ctx, w.db, w.service, slowlog.Options{})
}

// profile is the growth of the sums during the load; nil if the server does not
// keep them.
func (w *digestWatch) profile() *iikanji.Profile {
	if w == nil || w.before == nil || w.after == nil {
		return nil
	}
	was := map[string]*iikanji.Row{}
	for i := range w.before.Rows {
		was[w.before.Rows[i].Key] = &w.before.Rows[i]
	}
	out := *w.after
	out.Rows = nil
	for _, r := range w.after.Rows {
		if old := was[r.Key]; old != nil {
			r = grownRow(r, *old)
		}
		if r.Count > 0 {
			out.Rows = append(out.Rows, r)
		}
	}
	out.Intake.Lines = int64(len(out.Rows))
	return &out
}

// grownRow is the growth of a row of sums. Extremes and percentiles cover the
// whole time since the server started, and are left out.
func grownRow(now, was iikanji.Row) iikanji.Row {
	now.Count, now.Total = now.Count-was.Count, now.Total-was.Total
	now.Min, now.Max, now.Mean, now.P50, now.P90, now.P95, now.P99 = 0, 0, 0, 0, 0, 0, 0
	if now.Count > 0 {
		now.Mean = now.Total / time.Duration(now.Count)
	}
	if now.Query == nil || was.Query == nil {
		return now
	}
	q, o := *now.Query, was.Query
	q.Lock, q.Sent, q.Examined, q.Affected = q.Lock-o.Lock, q.Sent-o.Sent, q.Examined-o.Examined, q.Affected-o.Affected
	q.FullScan, q.FullJoin, q.Filesort = q.FullScan-o.FullScan, q.FullJoin-o.FullJoin, q.Filesort-o.Filesort
	q.TmpTable, q.TmpDisk = q.TmpTable-o.TmpTable, q.TmpDisk-o.TmpDisk
	now.Query = &q
	return now
}
