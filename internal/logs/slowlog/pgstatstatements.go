package slowlog

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// firstLine is a text up to its first newline.
func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// looksLikePGStat reports whether the first line consists of column names of
// pg_stat_statements, as psql's \copy … CSV HEADER writes them.
func looksLikePGStat(head []byte) bool {
	known := map[string]bool{}
	line := strings.ReplaceAll(string(firstLine(head)), `"`, "")
	for name := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ',' || r == '\t' }) {
		known[name] = true
	}
	return known["query"] && known["calls"] && (known["total_exec_time"] || known["total_time"])
}

// addPG adds one row of pg_stat_statements. names are the names of its columns; versions
// before 13 have total_time where later ones have total_exec_time.
func (s *sums) addPG(names, cells []string, file string, line int64) error {
	r := iikanji.Row{Query: &iikanji.SQLRow{NoExamined: true}}
	var text, hash string
	var rows int64
	times := map[string]*time.Duration{"total": &r.Total, "min": &r.Min, "max": &r.Max, "mean": &r.Mean, "stddev": &r.Stddev}
	for i, name := range names {
		v := cells[i]
		kind := strings.TrimSuffix(strings.TrimSuffix(name, "_time"), "_exec")
		at := times[kind]
		switch {
		case name == "query":
			text = v
		case name == "queryid":
			hash = v
		case name == "datname":
			r.Query.DB = v
		case (name == "rolname" || name == "usename") && v != "":
			r.Query.Users = []iikanji.Named{{Name: v}}
		case v == "" || at == nil && name != "calls" && name != "rows" || kind == name && at != nil:
		default:
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || n < 0 || math.IsNaN(n) || n > 1e15 {
				return fmt.Errorf("%s: %q is not a number", name, v)
			}
			switch {
			case at != nil:
				*at = milliseconds(n)
			case name == "calls":
				r.Count = int64(n)
			default:
				rows = int64(n)
			}
		}
	}
	if r.Count == 0 {
		return fmt.Errorf("its calls are 0")
	}
	if len(r.Query.Users) > 0 {
		r.Query.Users[0].Count = r.Count
	}
	if returnsRows(text) {
		r.Query.Sent = rows
	} else {
		r.Query.Affected = rows
	}
	if mean := r.Mean.Seconds(); mean > 0 {
		r.Query.VM = r.Stddev.Seconds() * r.Stddev.Seconds() / mean
	}
	s.put(&r, Fingerprinter{FoldTables: s.foldTables, Dialect: PostgreSQL}, text, "", hash, file, line)
	return nil
}

// milliseconds makes a duration of a number with a fraction. A number beyond the range of
// durations is the longest one.
func milliseconds(n float64) time.Duration {
	if n >= math.MaxInt64/1e6 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(n * 1e6))
}

// returnsRows reports whether the rows of a statement are sent: pg_stat_statements counts
// rows that a statement changed in the same column.
func returnsRows(text string) bool {
	word := strings.TrimLeft(text, " \t\r\n(")
	for _, begin := range []string{"select", "with", "values", "show", "table", "fetch", "execute"} {
		if len(word) >= len(begin) && strings.EqualFold(word[:len(begin)], begin) {
			return true
		}
	}
	return false
}

// statementsOfPG selects the statements of all databases, without those that ask for them.
const statementsOfPG = `SELECT s.*, d.datname, r.rolname FROM pg_stat_statements s LEFT JOIN pg_database d ON d.oid = s.dbid
 LEFT JOIN pg_roles r ON r.oid = s.userid WHERE s.calls > 0 AND s.query NOT LIKE '%pg_stat_statements%'`

// hiddenPG is the text of statements of other users, for a role that may not read them.
const hiddenPG = "<insufficient privilege>"

// ReadPGStatements reads pg_stat_statements from a running PostgreSQL. name is the target's
// name in the profile. Of the options, the filter and the folding of tables apply.
func ReadPGStatements(ctx context.Context, db Querier, name string, opt Options) (*iikanji.Profile, error) {
	if err := opt.checkDigestFilter(); err != nil {
		return nil, err
	}
	c := newCollector(opt)
	c.begin(name, formatPGStat)
	hidden := 0
	add := func(names, cells []string, file string, line int64) error {
		for i := range names {
			if names[i] == "query" && cells[i] == hiddenPG {
				hidden++
				cells[i] = ""
			}
		}
		return c.sums.addPG(names, cells, file, line)
	}
	if err := c.queryDigests(ctx, db, statementsOfPG, name, add); err != nil {
		return nil, err
	}
	if c.intake.Lines == 0 {
		return nil, &Error{"pg_stat_statements has no statements", []string{"it counts what runs after CREATE EXTENSION pg_stat_statements"}}
	}
	p := c.profile()
	p.Intake.Format, p.Target, p.Intake.Left = formatPGStat, name, c.sums.left
	p.Notes = append(p.Notes, "pg_stat_statements keeps sums: no percentiles, no transactions, no repetition; rows examined are unknown")
	if hidden > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d statements of other users have no text: GRANT pg_read_all_stats shows them", hidden))
	}
	return p, nil
}
