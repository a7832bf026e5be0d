package report

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
)

// AccessView is the view of access log profiles whose rows are grouped by
// route, status, method, host, user-agent, user or minute.
func AccessView(by string) *View {
	v := &View{Noun: "line", Row: by, Rows: by + "s", Columns: timeColumns()}
	if by == "status" {
		v.Rows = "statuses"
	}
	for class := 1; class <= 5; class++ {
		v.Columns = append(v.Columns, countColumn(fmt.Sprintf("%dxx", class), "answers of that class",
			func(r *iikanji.Row) int64 { return web(r).Status[class] }))
	}
	v.Columns = append(v.Columns,
		sizeColumn("bytes", "of all answers", func(r *iikanji.Row) int64 { return int64(web(r).Bytes) }),
		sizeColumn("mean-bytes", "of an answer", func(r *iikanji.Row) int64 { return mean(int64(web(r).Bytes), r.Count) }),
		sizeColumn("max-bytes", "of the largest answer", func(r *iikanji.Row) int64 { return int64(web(r).MaxBytes) }),
		durationColumn("upstream", "sum of upstream times", func(r *iikanji.Row) time.Duration { return web(r).Upstream }).unless(noUpstream),
		durationColumn("mean-upstream", "of the requests that had an upstream", func(r *iikanji.Row) time.Duration {
			return time.Duration(mean(int64(web(r).Upstream), web(r).Upstreams))
		}).unless(noUpstream),
		sizeColumn("request-bytes", "of all requests", func(r *iikanji.Row) int64 { return int64(web(r).ReqBytes) }).
			unless(func(r *iikanji.Row) bool { return web(r).ReqBytes == 0 }), // a request has at least its first line
	)
	v.Columns = append(v.Columns, exampleColumns()...)
	v.Columns = append(v.Columns, textColumn(by, "what the row is grouped by", true, func(r *iikanji.Row) string { return r.Key }))
	v.Brief = map[int][]string{
		-1:  {"count", "2xx", "3xx", "4xx", "5xx", "bytes", "mean-bytes", by}, // no times
		0:   {"count", "total", "share", "mean", "p99", "5xx", by},
		100: {"count", "total", "share", "mean", "p50", "p99", "max", "4xx", "5xx", by},
		130: {"count", "total", "share", "mean", "p50", "p90", "p99", "max", "3xx", "4xx", "5xx", "mean-bytes", by},
		170: {"count", "total", "share", "mean", "stddev", "min", "p50", "p90", "p95", "p99", "max", "2xx", "3xx", "4xx", "5xx", "bytes", "mean-bytes", "max-bytes", by},
	}
	return v
}

// web returns the HTTP part of a row, or an empty one for other rows.
func web(r *iikanji.Row) *iikanji.WebRow {
	if r.Web == nil {
		return &iikanji.WebRow{}
	}
	return r.Web
}

func mean(sum, n int64) int64 {
	if n == 0 {
		return 0
	}
	return sum / n
}

// noUpstream reports whether the log has no time of an upstream for a row.
func noUpstream(r *iikanji.Row) bool { return web(r).Upstreams == 0 }
