package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lines"
	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/slowlog"
)

type slowCmd struct {
	Files []string `arg:"" optional:"" help:"Logs of statements, plain, gzip or zstd; - for standard input." placeholder:"FILE"`

	DSN     string `name:"dsn" help:"Read the digests of performance_schema of a running server instead." placeholder:"USER:PASSWORD@tcp(HOST:3306)/"`
	Sort    string `help:"A column; ':asc' behind it puts the smallest first (default: total)." default:"total" placeholder:"COLUMN"`
	Limit   int    `help:"Rows of each table; 0 for all." default:"20"`
	Where   string `help:"Only these entries, as in 'time > 100ms and db = isu'." placeholder:"FILTER"`
	Since   string `help:"Only entries from this time on (RFC 3339, or date and time in local time)." placeholder:"TIME"`
	Until   string `help:"Only entries before this time." placeholder:"TIME"`
	Format  string `help:"table, tsv, csv, markdown, json or pt (the order of pt-query-digest)." default:"table" enum:"table,tsv,csv,markdown,json,pt"`
	JSON    bool   `help:"The same as --format json."`
	Save    string `help:"Also save the profile here, for merge and diff." placeholder:"FILE"`
	Workers int    `help:"Parse on so many cores (default: all)." placeholder:"N"`
}

// Help is the long help of the command.
func (slowCmd) Help() string {
	return `Reads slow logs of MariaDB, MySQL and Percona Server, digests of
performance_schema (as TSV, or live with --dsn) and SQLite traces as JSON lines,
and tells where the time went, by digest, by transaction and by repetition.

Examples:
  iikanji slow /var/log/mysql/slow.log
  iikanji slow --since '2026-11-21 10:00:00' --where 'db = isu' slow.log.gz
  iikanji slow --format pt slow.log
  iikanji slow diff before.log after.log

Columns to sort by: ` + strings.Join(report.StatementView().Names(), ", ") + `.

Exit status: 0 done, 1 failed to run (also: nothing in the log, or less than
99 % of it could be read), 2 usage.`
}

// Run is the command.
func (c *slowCmd) Run(ctx context.Context, e *env) error {
	if c.JSON {
		c.Format = "json"
	}
	if err := c.check(); err != nil {
		return err
	}
	if len(c.Files) == 3 && c.Files[0] == "diff" {
		return c.diff(ctx, e)
	}
	p, err := orInterrupted(ctx, func() (*iikanji.Profile, error) { return c.profile(ctx, e) })
	if err != nil {
		return err
	}
	if c.Save != "" {
		if err := saveProfile(c.Save, p); err != nil {
			return err
		}
	}
	return c.write(e, p)
}

func (c *slowCmd) check() error {
	if (len(c.Files) == 0) == (c.DSN == "") {
		return usageError("slow wants the names of logs (- for standard input), or --dsn")
	}
	if c.Limit < 0 {
		return usageError("--limit %d: want 0 or more", c.Limit)
	}
	if err := report.StatementView().Check(report.ProfileOptions{Sort: c.Sort}); err != nil {
		return usageError("--sort %q: %w", c.Sort, err)
	}
	return nil
}

// profile reads what was asked for, sorted.
func (c *slowCmd) profile(ctx context.Context, e *env) (*iikanji.Profile, error) {
	opt, err := c.options()
	if err != nil {
		return nil, err
	}
	read := func() (*iikanji.Profile, error) { return readSlow(ctx, e, c.Files, opt) }
	if c.DSN != "" {
		read = func() (*iikanji.Profile, error) { return liveDigests(ctx, c.DSN) }
	}
	p, err := read()
	if err != nil {
		return nil, err
	}
	return p, report.StatementView().Sort(p.Rows, c.Sort)
}

func (c *slowCmd) options() (opt slowlog.Options, err error) {
	opt.Workers = c.Workers
	if opt.Where, err = slowlog.ParseWhere(c.Where); err != nil {
		return opt, usageError("--where: %w", err)
	}
	if opt.Since, err = slowTime(c.Since); err != nil {
		return opt, usageError("--since %q: want a time such as 2026-11-21T10:00:00Z", c.Since)
	}
	if opt.Until, err = slowTime(c.Until); err != nil {
		return opt, usageError("--until %q: want a time such as 2026-11-21T10:00:00Z", c.Until)
	}
	return opt, nil
}

// slowTime reads a time as people write it; without a zone it is local.
func slowTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time", s)
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

// liveDigests asks a running server. The password of the DSN is never shown.
func liveDigests(ctx context.Context, dsn string) (*iikanji.Profile, error) {
	conf, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, usageError("--dsn: want USER:PASSWORD@tcp(HOST:3306)/ or USER@unix(/path/of.sock)/")
	}
	connector, err := mysql.NewConnector(conf)
	if err != nil {
		return nil, usageError("--dsn: %v", err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	p, err := slowlog.ReadDigests(ctx, db, conf.Addr)
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && (refused.Number == 1142 || refused.Number == 1044) {
		return nil, hinted(err, fmt.Sprintf("grant it: GRANT SELECT ON performance_schema.* TO '%s'@'…'", conf.User))
	}
	return p, err
}

func (c *slowCmd) write(e *env, p *iikanji.Profile) error {
	switch c.Format {
	case "json":
		cut := *p
		if c.Limit > 0 {
			cut.Rows = p.Rows[:min(len(p.Rows), c.Limit)]
		}
		return writeJSON(e.Stdout, &cut)
	case "tsv", "csv":
		cut := *p
		if c.Limit > 0 {
			cut.Rows = p.Rows[:min(len(p.Rows), c.Limit)]
		}
		if err := report.SlowIntake(e.Stderr, p); err != nil { // a table of cells has no place for it
			return err
		}
		return report.SlowFull(&cut).Write(e.Stdout, report.Format(c.Format), 0)
	}
	if c.Format == "pt" {
		return report.SlowPT(e.Stdout, p, c.Limit)
	}
	return report.SlowText(e.Stdout, p, report.Format(c.Format), e.Cols, c.Limit)
}

// diff compares two logs or saved profiles by digest.
func (c *slowCmd) diff(ctx context.Context, e *env) error {
	opt, err := c.options()
	if err != nil {
		return err
	}
	var both [2]*iikanji.Profile
	for i, name := range c.Files[1:] {
		if both[i], err = loadSlow(ctx, e, name, opt); err != nil {
			return err
		}
	}
	switch c.Format {
	case "json":
		return report.SlowDiff(both[0], both[1], 0, true).Write(e.Stdout, report.JSON, 0)
	case "tsv", "csv":
		for _, p := range both {
			if err := report.SlowIntake(e.Stderr, p); err != nil {
				return err
			}
		}
		return report.SlowDiff(both[0], both[1], c.Limit, true).Write(e.Stdout, report.Format(c.Format), 0)
	case "pt":
		return usageError("--format pt is of one log, not of a diff")
	}
	return report.SlowDiffText(e.Stdout, both[0], both[1], report.Format(c.Format), e.Cols, c.Limit)
}

// loadSlow reads a saved profile, or a log.
func loadSlow(ctx context.Context, e *env, name string, opt slowlog.Options) (*iikanji.Profile, error) {
	if name != "-" {
		if f, err := os.Open(name); err == nil {
			defer f.Close()
			head := make([]byte, 64)
			n, _ := f.ReadAt(head, 0)
			if strings.HasPrefix(string(head[:n]), `{"version":`) {
				p := new(iikanji.Profile)
				if err := json.NewDecoder(f).Decode(p); err != nil {
					return nil, fmt.Errorf("reading %s: %w", name, err)
				}
				if p.Version > iikanji.ProfileVersion || p.Source != iikanji.Slow {
					return nil, fmt.Errorf("reading %s: it is no profile of statements that this version reads", name)
				}
				return p, nil
			}
		}
	}
	return readSlow(ctx, e, []string{name}, opt)
}
