package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// ptFlags are flags of pt-query-digest, so that one of its command lines works
// after `iikanji slow`. translate turns them into flags of slow.
type ptFlags struct {
	OrderBy      string   `hidden:"" placeholder:"ATTRIBUTE:AGGREGATE"`
	GroupBy      string   `hidden:"" placeholder:"ATTRIBUTE"`
	Filter       string   `hidden:"" placeholder:"PERL"`
	Output       string   `hidden:"" placeholder:"FORMAT"`
	Type         string   `hidden:"" placeholder:"TYPE"`
	ReportFormat []string `hidden:"" placeholder:"PARTS"`
	Progress     string   `hidden:"" placeholder:"TYPE,NUMBER"`
}

// ptError is a mistake on the command line with advice.
func ptError(advice, format string, args ...any) error {
	return &exitError{Status: exitUsage, Err: fmt.Errorf(format, args...), Hints: []string{advice}}
}

// translate turns a command line of pt-query-digest into one of slow and prints
// the latter on standard error. Flags without a counterpart are errors with advice.
func (c *slowCmd) translate(e *env) error {
	named := len(c.Files) > 0 && filepath.Base(c.Files[0]) == "pt-query-digest"
	if named {
		c.Files = c.Files[1:]
	}
	if named && len(c.Files) == 0 && c.DSN == "" { // pt-query-digest reads standard input without a file
		c.Files = []string{"-"}
	}
	used := named || c.OrderBy+c.GroupBy+c.Filter+c.Output+c.Type+c.Progress != "" || len(c.ReportFormat) > 0
	if !used {
		return nil
	}
	for _, step := range []func() error{c.translateOrder, c.translateGroup, c.translateFilter, c.translateOutput} {
		if err := step(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(e.Stderr, "iikanji: read as: %s\n", c.commandLine())
	return err
}

// ptOrders maps attributes of --order-by to columns; those of Query_time depend on
// the aggregate.
var ptOrders = map[string]string{
	"query_time:sum": "total", "query_time:max": "max", "query_time:min": "min:asc", "query_time:cnt": "count", "query_time:avg": "mean",
	"lock_time": "lock", "rows_sent": "sent", "rows_examined": "examined", "rows_examine": "examined", "bytes_sent": "bytes", "errors": "errors",
}

func (c *slowCmd) translateOrder() error {
	if c.OrderBy == "" {
		return nil
	}
	first, _, _ := strings.Cut(strings.ToLower(c.OrderBy), ",")
	attribute, aggregate, ok := strings.Cut(first, ":")
	if !ok {
		aggregate = "sum"
	}
	column := ptOrders[attribute+":"+aggregate]
	if column == "" && aggregate == "sum" {
		column = ptOrders[attribute]
	}
	if aggregate == "cnt" {
		column = "count"
	}
	if column == "" {
		return ptError("--sort takes "+strings.Join(slowView(0, nil).Names(), ", "), "--order-by %s has no column in slow", c.OrderBy)
	}
	c.Sort, c.OrderBy = column, ""
	return nil
}

func (c *slowCmd) translateGroup() error {
	if c.GroupBy == "" {
		return nil
	}
	switch c.GroupBy {
	case "fingerprint", "tables", "user", "host", "db":
		c.By = strings.TrimSuffix(strings.Replace(c.GroupBy, "fingerprint", "statement", 1), "s")
		return nil
	}
	return ptError("--by takes statement, table, user, host or db", "--group-by %s has no counterpart in slow", c.GroupBy)
}

// ptTerm is one comparison of a filter in Perl, as in
// ($event->{user} || "") =~ m/^isu/i.
var ptTerm = regexp.MustCompile(`^\(?\s*\$event->\{\s*['"]?(\w+)['"]?\s*\}(?:\s*\|\|\s*(?:""|''|0)\s*\))?\s*(=~|!~|eq|ne|==|!=|>=|<=|>|<)\s*(?:m?/((?:[^/\\]|\\.)*)/i?|qr/((?:[^/\\]|\\.)*)/i?|"([^"]*)"|'([^']*)'|([\d.]+))\s*\)?$`)

// ptFields maps attributes of events to fields of filters.
var ptFields = map[string]string{"query_time": "time", "lock_time": "lock", "rows_sent": "rows_sent", "rows_examined": "rows_examined", "rows_affected": "rows_affected",
	"bytes_sent": "bytes_sent", "bytes": "bytes_sent", "user": "user", "host": "host", "ip": "host", "db": "db", "schema": "db", "arg": "statement", "fingerprint": "statement",
	"thread_id": "thread", "full_scan": "full_scan", "full_join": "full_join", "filesort": "filesort", "tmp_table": "tmp_table", "tmp_table_on_disk": "tmp_disk"}

func (c *slowCmd) translateFilter() error {
	if c.Filter == "" {
		return nil
	}
	var terms []string
	for _, part := range regexp.MustCompile(`\s+(?:&&|and)\s+`).Split(strings.TrimSpace(c.Filter), -1) {
		m := ptTerm.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil || ptFields[strings.ToLower(m[1])] == "" {
			return ptError("--where selects entries, as in --where 'time > 1s and user = isu and statement ~ ^select'", "--filter is Perl code of pt-query-digest, and slow cannot translate %q", part)
		}
		op := map[string]string{"=~": "~", "eq": "=", "ne": "!=", "==": "="}[m[2]]
		if op == "" {
			op = m[2]
		}
		value, ok := quotedValue(m[3] + m[4] + m[5] + m[6] + m[7])
		if !ok {
			return usageError("--filter: a value of slow's filters cannot have both kinds of quotes: %s", part)
		}
		terms = append(terms, ptFields[strings.ToLower(m[1])]+" "+op+" "+value)
	}
	if c.Where != "" {
		terms = append([]string{"(" + c.Where + ")"}, terms...)
	}
	c.Where = strings.Join(terms, " and ")
	return nil
}

// quotedValue quotes a value of a filter unless it is a plain word or number. ok is
// false for a value with both kinds of quotes.
func quotedValue(v string) (quoted string, ok bool) {
	switch {
	case regexp.MustCompile(`^[\w.:-]+$`).MatchString(v):
		return v, true
	case !strings.Contains(v, `"`):
		return `"` + v + `"`, true
	}
	return "'" + v + "'", !strings.Contains(v, "'")
}

func (c *slowCmd) translateOutput() error {
	switch c.Type {
	case "", "slowlog", "genlog":
	default:
		return ptError("slow detects the format of slow logs, general logs, logs of PostgreSQL and SQLite traces", "--type %s: slow cannot read it", c.Type)
	}
	switch c.Output {
	case "", "report":
		if c.Format == "table" && (c.By == "" || c.By == "statement") && len(c.Columns) == 0 && len(c.Percentiles) == 0 {
			c.Format = "pt"
		}
	case "json", "json-anon":
		c.Format = "json"
	default:
		return ptError("--format takes table, tsv, csv, markdown, json or pt", "--output %s: slow cannot write it", c.Output)
	}
	return nil
}

// commandLine returns the command line of slow that the flags amount to.
func (c *slowCmd) commandLine() string {
	args := []string{"iikanji", "slow"}
	for _, f := range []struct{ flag, value, usual string }{
		{"--by", c.By, "statement"}, {"--sort", c.Sort, "total"}, {"--limit", c.Limit, "20"}, {"--where", c.Where, ""}, {"--since", c.Since, ""}, {"--until", c.Until, ""}, {"--format", c.Format, "table"},
	} {
		if f.value != f.usual {
			args = append(args, f.flag, f.value)
		}
	}
	return host.QuoteAll(append(args, c.Files...)...)
}
