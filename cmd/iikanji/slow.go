package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/filter"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
)

type slowCmd struct {
	// The parser ends a list of names at a flag. More and Rest are the names after
	// flags, as in "slow a.log --limit 5 b.log".
	Names fileNames `arg:"" optional:"" name:"files" help:"Statement logs, plain, gzip or zstd; - for standard input." placeholder:"FILE"`
	More  fileNames `arg:"" optional:"" name:"more-files" help:"Further logs, after options." placeholder:"FILE"`
	Rest  fileNames `arg:"" optional:"" name:"still-more-files" help:"Further logs, after more options." placeholder:"FILE"`

	DSN         string    `name:"dsn" help:"Read the digests of performance_schema of a running server instead, or pg_stat_statements with postgres://…." placeholder:"USER:PASSWORD@tcp(HOST:3306)/"`
	By          string    `help:"Group rows by statement, table, user, host or db." default:"statement" placeholder:"NAME"`
	Sort        string    `help:"Column to sort by; with the suffix ':asc' the smallest value comes first (default: total)." default:"total" placeholder:"COLUMN"`
	Limit       string    `help:"Rows of each table; 0 for all; 95%:20 for 95 % of the time in at most 20 rows." default:"20" placeholder:"N"`
	Columns     []string  `help:"Columns of the table, separated by commas, or all." placeholder:"NAMES"`
	Percentiles []float64 `help:"Percentiles of the table, as in 50,75,99,99.9." placeholder:"NUMBERS"`
	Where       string    `help:"Count only entries that meet this condition, as in 'time > 100ms and db = isu'." placeholder:"FILTER"`
	Since       string    `help:"Count only entries from this time on: date and time, a time of day, or a duration before the log's end (1h)." placeholder:"TIME"`
	Until       string    `help:"Count only entries before this time." placeholder:"TIME"`
	FoldTables  bool      `help:"Count numbered tables as one: tenant_1 and tenant_2 are tenant_?."`
	Literals    bool      `help:"Show literals that may be secrets, and save all literals; by default they are redacted."`
	Format      string    `help:"table, tsv, csv, markdown, json or pt (the report of pt-query-digest)." default:"table" enum:"table,tsv,csv,markdown,json,pt"`
	JSON        bool      `help:"The same as --format json."`
	Save        string    `help:"Also save the profile in this file, for merge and diff." placeholder:"FILE"`
	Workers     int       `help:"Number of cores for parsing (default: all)." placeholder:"N"`

	ptFlags

	Files []string `kong:"-"` // all names
	by    slowlog.By
	limit rowLimit
	view  *report.View
}

// fileNames are names of files up to the next flag.
type fileNames struct{ list []string }

// Decode implements kong.MapperValue.
func (f *fileNames) Decode(ctx *kong.DecodeContext) error {
	for _, t := range ctx.Scan.PopWhile(kong.Token.IsValue) {
		f.list = append(f.list, t.String())
	}
	return nil
}

// Help returns the long help of the command.
func (slowCmd) Help() string {
	return `Reads slow logs and general logs of MariaDB, MySQL and Percona Server, logs of
PostgreSQL (stderr, csvlog, jsonlog), digests of performance_schema (as TSV, or
live with --dsn) and SQLite traces as JSON lines. Shows where the time went, by
digest, by transaction and by repetition.

Examples:
  iikanji slow /var/log/mysql/slow.log
  iikanji slow --since 10:00 --where 'db = isu and time > 1ms' slow.log.gz
  iikanji slow --by table --percentiles 50,99,99.9 slow.log
  iikanji slow --format pt slow.log
  iikanji slow diff before.log after.log

Columns: ` + strings.Join(slowView(slowlog.ByStatement, nil).Names(), ", ") + `.

Options of pt-query-digest (--order-by, --group-by, --limit 95%:20, --output,
--filter …) are translated.

Exit status: 0 done, 1 failed to run (also: less than 99 % of the log could be
read, or a filter left out everything), 2 usage.`
}

// Run runs the command.
func (c *slowCmd) Run(ctx context.Context, e *env) error {
	c.Files = slices.Concat(c.Names.list, c.More.list, c.Rest.list)
	if err := c.translate(e); err != nil {
		return err
	}
	if c.JSON {
		c.Format = "json"
	}
	if err := c.check(); err != nil {
		return err
	}
	if len(c.Files) == 3 && c.Files[0] == "diff" {
		return c.diff(ctx, e)
	}
	// As in access: a tighter heap costs nothing, because reading creates no garbage.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	p, err := orInterrupted(ctx, func() (*iikanji.Profile, error) { return c.profile(ctx, e) })
	var quoting *slowlog.Error
	if errors.As(err, &quoting) && !c.Literals {
		redact.Document(&quoting.Advice)
	}
	if err != nil {
		return err
	}
	if !c.Literals {
		if n := redact.Profile(p, false); n > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("literals that may be secrets are redacted in %d examples: --literals shows them", n))
		}
	}
	if c.Save != "" {
		if err := saveRedacted(c.Save, p, c.Literals); err != nil {
			return err
		}
	}
	return c.write(e, p)
}

// check finds mistakes of the command line.
func (c *slowCmd) check() (err error) {
	if (len(c.Files) == 0) == (c.DSN == "") {
		return usageError("slow needs the names of logs (- for standard input), or --dsn")
	}
	if c.limit, err = parseLimit(c.Limit); err != nil {
		return usageError("--limit: %w", err)
	}
	if c.by, err = slowlog.ParseBy(c.By); err != nil {
		return usageError("--by: %w", err)
	}
	if c.DSN != "" && c.by != slowlog.ByStatement {
		return usageError("--by %s: digests of a server have rows by statement only", c.By)
	}
	for _, p := range c.Percentiles {
		if !(p > 0 && p <= 100) {
			return usageError("--percentiles: %v is not between 0 and 100", p)
		}
	}
	if (len(c.Percentiles) > 0 || len(c.Columns) > 0 || c.by != slowlog.ByStatement) && c.Format == "pt" {
		return usageError("--format pt has columns of its own: use it without --columns, --percentiles and --by")
	}
	if (len(c.Percentiles) > 0 || len(c.Columns) > 0) && c.Format == "json" {
		return usageError("--format json has all columns: use it without --columns and --percentiles")
	}
	c.view = slowView(c.by, c.Percentiles)
	if err := c.view.Check(report.ProfileOptions{Sort: c.Sort}); err != nil {
		return usageError("--sort %q: %w", c.Sort, err)
	}
	if err := c.view.Check(report.ProfileOptions{Columns: c.Columns}); err != nil {
		return usageError("--columns: %w", err)
	}
	return nil
}

// A rowLimit is the number of rows to show.
type rowLimit struct {
	rows  int     // 0 for all
	share float64 // of the total time that the rows must reach; 0 for none
}

// parseLimit reads 20, 0 for all, or a share with or without a number, as in
// 95%:20.
func parseLimit(s string) (l rowLimit, err error) {
	rows := s
	if percent, rest, ok := strings.Cut(s, "%"); ok {
		p, err := strconv.ParseFloat(percent, 64)
		if err != nil || !(p > 0 && p <= 100) || rest != "" && rest[0] != ':' {
			return l, fmt.Errorf("%q is not a share such as 95%% or 95%%:20", s)
		}
		if l.share = p / 100; rest == "" {
			return l, nil
		}
		rows = rest[1:]
	}
	if l.rows, err = strconv.Atoi(rows); err != nil || l.rows < 0 {
		return l, fmt.Errorf("%q is not a number of rows, 0 or more", s)
	}
	return l, nil
}

// of returns the number of rows to show of a profile, 0 for all.
func (l rowLimit) of(p *iikanji.Profile) int {
	if l.share == 0 {
		return l.rows
	}
	n, sum := 0, 0.0
	for n < len(p.Rows) && sum < l.share-1e-9 {
		sum += p.Rows[n].Share
		n++
	}
	if l.rows > 0 {
		n = min(n, l.rows)
	}
	return max(n, 1)
}

// profile reads the logs or digests and sorts the rows.
func (c *slowCmd) profile(ctx context.Context, e *env) (*iikanji.Profile, error) {
	opt, err := c.options()
	if err != nil {
		return nil, err
	}
	read := func() (*iikanji.Profile, error) { return readSlow(ctx, e, c.Files, opt) }
	if c.DSN != "" {
		read = func() (*iikanji.Profile, error) { return liveDigests(ctx, c.DSN, opt) }
	}
	p, err := read()
	if err != nil {
		return nil, err
	}
	if p.Intake.Lines > 0 && c.Sort == "total" && untimed(p) {
		c.Sort = "count"
	}
	return p, c.view.Sort(p.Rows, c.Sort)
}

// untimed reports whether no row has a time, as in a general log.
func untimed(p *iikanji.Profile) bool {
	for i := range p.Rows {
		if p.Rows[i].Total > 0 {
			return false
		}
	}
	return true
}

// options makes the reader's options from the flags.
func (c *slowCmd) options() (opt slowlog.Options, err error) {
	opt.Workers, opt.FoldTables, opt.By = c.Workers, c.FoldTables, c.by
	if opt.Where, err = slowlog.ParseWhere(c.Where, time.Local); err != nil {
		return opt, usageError("--where: %w", err)
	}
	for _, t := range []struct {
		flag, value string
		at          *filter.When
	}{{"--since", c.Since, &opt.Since}, {"--until", c.Until, &opt.Until}} {
		if t.value == "" {
			continue
		}
		if *t.at, err = filter.ParseWhen(t.value, time.Local, nil); err != nil {
			return opt, usageError("%s: %w", t.flag, err)
		}
	}
	return opt, nil
}

// readSlow opens and reads logs.
func readSlow(ctx context.Context, e *env, files []string, opt slowlog.Options) (*iikanji.Profile, error) {
	var inputs []*lines.Input
	defer func() {
		for _, in := range inputs {
			in.Close()
		}
	}()
	for _, name := range files {
		in, err := lines.Open(name, e.Stdin)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	done, stop := readingProgress(e, inputs)
	defer stop()
	opt.Done = done
	return slowlog.Read(ctx, inputs, opt)
}

// liveDigests reads the digests of a running server. Its errors do not contain
// the password of the DSN.
func liveDigests(ctx context.Context, dsn string, opt slowlog.Options) (*iikanji.Profile, error) {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		return livePostgres(ctx, dsn, opt)
	}
	conf, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, usageError("--dsn: want USER:PASSWORD@tcp(HOST:3306)/ or USER@unix(/path/of.sock)/, or postgres://USER:PASSWORD@HOST/DATABASE")
	}
	connector, err := mysql.NewConnector(conf)
	if err != nil {
		return nil, usageError("--dsn: %v", err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	p, err := slowlog.ReadDigests(ctx, db, conf.Addr, opt)
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && (refused.Number == 1142 || refused.Number == 1044) {
		return nil, hinted(err, fmt.Sprintf("grant it: GRANT SELECT ON performance_schema.* TO '%s'@'…'", conf.User))
	}
	return p, err
}

// write writes the profile in the format that was chosen.
func (c *slowCmd) write(e *env, p *iikanji.Profile) error {
	limit := c.limit.of(p)
	cut := *p
	if limit > 0 {
		cut.Rows = p.Rows[:min(len(p.Rows), limit)]
	}
	switch {
	case c.Format == "json":
		return writeJSON(e.Stdout, &cut)
	case len(c.Columns) > 0 || len(c.Percentiles) > 0 || c.by != slowlog.ByStatement:
		return c.view.Write(e.Stdout, p, report.ProfileOptions{Format: report.Format(c.Format), Limit: limit, Columns: c.columns(), Cols: e.Cols, Zone: time.Local})
	case c.Format == "tsv" || c.Format == "csv":
		if err := report.SlowIntake(e.Stderr, p); err != nil { // the table has no place for it
			return err
		}
		return report.SlowFull(&cut).Write(e.Stdout, report.Format(c.Format), 0)
	case c.Format == "pt":
		return report.SlowPT(e.Stdout, p, limit)
	}
	return report.SlowText(e.Stdout, p, report.Format(c.Format), e.Cols, limit)
}

// columns returns the columns to show: those of --columns and the percentiles.
func (c *slowCmd) columns() []string {
	if len(c.Columns) == 0 || len(c.Percentiles) == 0 {
		return c.Columns
	}
	columns := c.Columns[: len(c.Columns)-1 : len(c.Columns)-1]
	for _, p := range c.Percentiles {
		columns = append(columns, percentileName(p))
	}
	return append(columns, c.Columns[len(c.Columns)-1])
}
