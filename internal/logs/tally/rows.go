package tally

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// SortRows sorts rows by total time, then count, then key, so that the order is
// deterministic. Logs without times are thus sorted by count.
func SortRows(rows []iikanji.Row) {
	slices.SortFunc(rows, func(a, b iikanji.Row) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Count, a.Count), strings.Compare(a.Key, b.Key))
	})
}

// Share sets each row's share of the total of all rows.
func Share(rows []iikanji.Row) {
	var total float64
	for _, r := range rows {
		total += float64(r.Total)
	}
	for i := range rows {
		rows[i].Share = 0
		if total > 0 {
			rows[i].Share = float64(rows[i].Total) / total
		}
	}
}

// MaxBadLines is the number of bad lines that an Intake quotes.
const MaxBadLines = 5

// ErrNoSketch reports a profile that was printed, not saved.
var ErrNoSketch = errors.New("it was saved without sketches, so its percentiles cannot be merged (--save keeps them)")

// Merge joins profiles of the same source: rows of the same key (the digest,
// for statements) add up, percentiles through the sketches. The result does not
// depend on the order of profiles and shares no memory with ps.
func Merge(ps ...*iikanji.Profile) (*iikanji.Profile, error) {
	if len(ps) == 0 {
		return nil, errors.New("merging no profiles")
	}
	out := &iikanji.Profile{Version: iikanji.ProfileVersion, Source: ps[0].Source}
	sums := map[string]*sum{}
	for _, p := range ps {
		if p.Source != out.Source {
			return nil, fmt.Errorf("merging profiles of two sources: %v and %v", out.Source, p.Source)
		}
		for i := range p.Rows {
			if err := addRow(sums, &p.Rows[i]); err != nil {
				return nil, fmt.Errorf("merging %s: %w", p.Target, err)
			}
		}
		out.Transactions = mergeTransactions(out.Transactions, p.Transactions)
		out.Repeats = mergeRepeats(out.Repeats, p.Repeats)
		addIntake(&out.Intake, p.Intake)
		out.Slowest = mergeSlowest(out.Slowest, p.Slowest)
		for _, n := range p.Notes {
			if !slices.Contains(out.Notes, n) {
				out.Notes = append(out.Notes, n)
			}
		}
	}
	targets := make([]string, 0, len(ps))
	for _, p := range ps {
		targets = append(targets, p.Target)
	}
	slices.Sort(targets)
	out.Target = strings.Join(slices.Compact(targets), ", ")
	out.First, out.Last = out.Intake.First, out.Intake.Last
	for _, s := range sums {
		out.Rows = append(out.Rows, s.finish())
	}
	SortRows(out.Rows)
	Share(out.Rows)
	slices.Sort(out.Notes)
	return out, nil
}

// A sum is a row during merging.
type sum struct {
	row     iikanji.Row
	time    Sketch
	seconds Seconds // kept only if every part has them
}

func (s *sum) finish() iikanji.Row {
	s.time.Fill(&s.row)
	s.row.PerSecond = s.seconds.Counts()
	if s.row.Query != nil {
		s.row.Query.VM = s.time.VarianceToMean()
	}
	return s.row
}

// rowKey is the key by which rows are joined.
func rowKey(r *iikanji.Row) string {
	if r.Query != nil && r.Query.Digest != "" {
		return r.Query.Digest + " " + r.Query.DB
	}
	return r.Key
}

func addRow(sums map[string]*sum, r *iikanji.Row) error {
	var t Sketch
	if len(r.Time) > 0 {
		if err := t.UnmarshalBinary(r.Time); err != nil {
			return fmt.Errorf("reading the times of %s: %w", r.Key, err)
		}
	} else if r.Total > 0 {
		return ErrNoSketch
	}
	key := rowKey(r)
	s := sums[key]
	if s == nil {
		s = &sum{row: *r}
		s.row.Web, s.row.Query = clonePtr(r.Web), clonePtr(r.Query)
		if s.row.Query != nil {
			s.row.Query.Tables = slices.Clone(r.Query.Tables)
		}
		sums[key] = s
	} else {
		s.add(r)
	}
	s.time.Merge(&t)
	s.seconds.Merge(secondsOf(r.PerSecond))
	return nil
}

func clonePtr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

func (s *sum) add(r *iikanji.Row) {
	if r.Web != nil && s.row.Web != nil {
		addWeb(s.row.Web, r.Web)
	}
	if r.Query != nil && s.row.Query != nil {
		s.row.Query.NoSent = s.row.Query.NoSent && r.Query.NoSent
		s.row.Query.NoExamined = s.row.Query.NoExamined && r.Query.NoExamined
		if q := s.row.Query; r.Count > s.row.Count || r.Count == s.row.Count && lessSighting(r.Query.Typical, q.Typical) {
			q.Typical = r.Query.Typical // the example of the larger part
		}
		addQuery(s.row.Query, r.Query)
	}
	s.row.Count += r.Count
	s.row.Errors += r.Errors
	if r.Example.Took > s.row.Example.Took || r.Example.Took == s.row.Example.Took && lessSighting(r.Example, s.row.Example) {
		s.row.Example = r.Example
	}
}

// mergeSlowest joins lists of slowest requests; the longer list sets the length.
func mergeSlowest(a, b []iikanji.Sighting) []iikanji.Sighting {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y iikanji.Sighting) int {
		return cmp.Or(cmp.Compare(y.Took, x.Took), strings.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), strings.Compare(x.Text, y.Text))
	})
	return all[:min(len(all), max(len(a), len(b)))]
}

func lessSighting(a, b iikanji.Sighting) bool {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text)) < 0
}

func addWeb(w, o *iikanji.WebRow) {
	for i, n := range o.Status {
		w.Status[i] += n
	}
	w.Bytes += o.Bytes
	w.MaxBytes = max(w.MaxBytes, o.MaxBytes)
	w.Upstream += o.Upstream
	w.Upstreams += o.Upstreams
	w.ReqBytes += o.ReqBytes
	w.MaxReqBytes = max(w.MaxReqBytes, o.MaxReqBytes)
}

func addQuery(q, o *iikanji.SQLRow) {
	q.Lock += o.Lock
	q.Sent += o.Sent
	q.MaxSent = max(q.MaxSent, o.MaxSent)
	q.Examined += o.Examined
	q.MaxExamined = max(q.MaxExamined, o.MaxExamined)
	q.Affected += o.Affected
	q.BytesSent += o.BytesSent
	q.FullScan += o.FullScan
	q.FullJoin += o.FullJoin
	q.Filesort += o.Filesort
	q.TmpTable += o.TmpTable
	q.TmpDisk += o.TmpDisk
	q.Prepares += o.Prepares
	q.PrepareTime += o.PrepareTime
	for i, n := range o.Decades {
		q.Decades[i] += n
	}
	q.DBs, q.Users, q.Hosts = mergeNamed(q.DBs, o.DBs), mergeNamed(q.Users, o.Users), mergeNamed(q.Hosts, o.Hosts)
	q.Spreads = mergeSpreads(q.Spreads, o.Spreads)
	for _, t := range o.Tables {
		if !slices.Contains(q.Tables, t) {
			q.Tables = append(q.Tables, t)
		}
	}
	slices.Sort(q.Tables)
}

func addIntake(in *iikanji.Intake, o iikanji.Intake) {
	switch {
	case in.Format == "":
		in.Format = o.Format
	case o.Format != "" && !slices.Contains(strings.Split(in.Format, ", "), o.Format):
		all := append(strings.Split(in.Format, ", "), o.Format)
		slices.Sort(all)
		in.Format = strings.Join(all, ", ")
	}
	in.Files = append(in.Files, o.Files...)
	in.Lines += o.Lines
	in.Bytes += o.Bytes
	in.Bad += o.Bad
	in.Left += o.Left
	if !o.First.IsZero() && (in.First.IsZero() || o.First.Before(in.First)) {
		in.First = o.First
	}
	if o.Last.After(in.Last) {
		in.Last = o.Last
	}
	in.BadLines = append(in.BadLines, o.BadLines...)
	slices.Sort(in.Files)
	slices.SortStableFunc(in.BadLines, func(a, b iikanji.BadLine) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	in.BadLines = in.BadLines[:min(len(in.BadLines), MaxBadLines)]
}
