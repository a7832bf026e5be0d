package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/show/report"
)

// A percentile is a percentile that the user chose: its column and its quantile.
type percentile struct {
	name string
	q    float64
}

// parsePercentiles reads "50,75,99,99.9".
func parsePercentiles(list string) (all []percentile, err error) {
	for s := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(s), "p"), 64)
		if err != nil || !(v > 0 && v <= 100) {
			return nil, fmt.Errorf("%q is not a percentile above 0 and up to 100", s)
		}
		p := percentile{"p" + strconv.FormatFloat(v, 'f', -1, 64), v / 100}
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all, nil
}

// addPercentiles adds columns to a view. They replace the default percentiles in
// its tables.
func addPercentiles(v *report.View, all []percentile) {
	if len(all) == 0 {
		return
	}
	at := slices.IndexFunc(v.Columns, func(c report.RowColumn) bool { return c.Name == "max" })
	var names []string
	for _, p := range all {
		names = append(names, p.name)
		if _, err := v.Column(p.name); err != nil {
			v.Columns = slices.Insert(v.Columns, at, percentileColumn(p.name))
			at++
		}
	}
	for width, columns := range v.Brief {
		first := slices.IndexFunc(columns, isPercentile)
		if first < 0 {
			continue
		}
		columns = slices.DeleteFunc(slices.Clone(columns), isPercentile)
		v.Brief[width] = slices.Insert(columns, first, names...)
	}
}

func isPercentile(column string) bool {
	_, err := strconv.ParseFloat(strings.TrimPrefix(column, "p"), 64)
	return err == nil && strings.HasPrefix(column, "p")
}

func percentileColumn(name string) report.RowColumn {
	of := func(r *iikanji.Row) time.Duration { return r.Percentiles[name] }
	return report.RowColumn{Name: name, Help: "within 1 %",
		Cell:  func(r *iikanji.Row) string { return report.Duration(of(r)) },
		Raw:   func(r *iikanji.Row) string { return strconv.FormatFloat(of(r).Seconds(), 'f', -1, 64) },
		Value: func(r *iikanji.Row) float64 { return float64(of(r)) }}
}

// fillPercentiles computes the chosen percentiles of all rows from their sketches.
func fillPercentiles(p *iikanji.Profile, all []percentile) error {
	for i := range p.Rows {
		row := &p.Rows[i]
		if len(all) == 0 || len(row.Time) == 0 {
			continue
		}
		var s tally.Sketch
		if err := s.UnmarshalBinary(row.Time); err != nil {
			return fmt.Errorf("reading the times of %s: %w", row.Key, err)
		}
		row.Percentiles = map[string]time.Duration{}
		for _, c := range all {
			row.Percentiles[c.name] = s.Quantile(c.q)
		}
	}
	return nil
}
