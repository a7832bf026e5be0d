package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/filter"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
)

type accessCmd struct {
	Files []string `arg:"" optional:"" help:"Access logs, plain, gzip or zstd; - for standard input." placeholder:"FILE"`

	accessFlags
	By    []string `help:"Group rows by route, status, method, host, user-agent, user, minute, hour, ip, backend or url, or by several of them." default:"route" placeholder:"KEYS"`
	Where []string `help:"Count only requests that meet this condition, as in 'status>=500,method=POST' or 'time>200ms'." placeholder:"CONDITION" sep:"none"`
	Since string   `help:"Count only lines from this time on: date and time, a time of day (13:00:10), a duration before the log's end (1h), or as logged." placeholder:"TIME"`
	Until string   `help:"Count only lines before this time." placeholder:"TIME"`

	tableFlags
	TopRequests int    `help:"Also list this many of the slowest single requests." placeholder:"N"`
	Save        string `help:"Also save the profile here, for merge and diff." placeholder:"FILE"`
	SQL         string `name:"sql" help:"Print the query for the same table from a table of requests in a database: clickhouse." default:"" enum:",clickhouse" placeholder:"NAME"`
	Literals    bool   `help:"Show and save what may be a secret in URLs (tokens, addresses of e-mail); by default it is redacted."`

	FromOffset int64  `help:"Start at this byte of the log." placeholder:"N"`
	Pos        string `help:"Continue where the last reading with this position file ended, and update the file." placeholder:"FILE"`
	NosavePos  bool   `name:"nosave-pos" help:"With --pos: do not update the position file."`
	Workers    int    `help:"Number of cores for parsing (default: all, up to 8)." placeholder:"N"`
}

// accessFlags describe the format of access logs and how routes are made.
type accessFlags struct {
	LogFormat string   `help:"A log_format or LogFormat string, or common, combined, ltsv, json, envoy … (default: detected)." placeholder:"FORMAT"`
	NginxConf string   `help:"Take the formats, and routes from locations for one path or for files, from this nginx.conf, or the output of nginx -T." placeholder:"FILE"`
	Field     []string `help:"The key of a field in LTSV or JSON, as in time=rt:ms or uri=req.path." placeholder:"NAME=KEY"`
	Route     []string `help:"A route in a router's syntax, as in '/users/:id/icon'; has priority over learned routes." placeholder:"PATTERN" sep:"none"`
	Matching  []string `short:"m" help:"Regular expressions for routes, separated by commas, as in alp's -m." placeholder:"REGEXPS" sep:"none"`
	Routes    string   `aliases:"openapi" help:"A file of routes, one per line, an OpenAPI description (JSON or YAML), the folder of the app's Go source, or a target with one; they have priority." placeholder:"FILE"`
	DecodeURI bool     `name:"decode-uri" help:"Decode percent-encoded text in routes."`
	Query     bool     `help:"Include the keys of the query in routes."`
	MaxBad    float64  `help:"Accepted percentage of lines that do not parse (default: 1)." default:"1" placeholder:"PERCENT"`
	Partial   bool     `help:"Count the readable part of a cut-off gzip or zstd log."`
}

// Help returns the long help of the command.
func (accessCmd) Help() string {
	return `Shows where a web site spends its time, by route, from access logs: nginx and
Apache (common, combined, with any further fields), LTSV, JSON lines, logfmt,
Envoy, varnishncsa, H2O, W3C, AWS load balancers, HAProxy, squid, gin, uvicorn,
Traefik, also in Docker's json-file. The format is detected and verified; routes
are learned: ids, UUIDs, hashes, dates and names become placeholders.

Examples:
  iikanji access /var/log/nginx/access.log
  zcat old.gz | iikanji access - --since '2026-11-19 04:00' --limit 10
  iikanji access --since 1h --percentiles 50,99,99.9 --top-requests 10 access.log
  iikanji access --nginx-conf /etc/nginx/nginx.conf --sort p99 access.log
  iikanji access --where 'status>=500' --by minute access.log*
  iikanji access --routes openapi.yaml access.log
  iikanji access --route '/api/isu/:id/icon' -m '^/assets/' access.log
  iikanji access --save before.json access.log
  iikanji access diff before.json access.log

Columns: ` + strings.Join(report.AccessView("route").Names(), ", ") + `.

Conditions: status, method, route, path, host, user-agent, user, ip, time,
upstream, bytes, at; with =, !=, <, <=, >, >=, ~, !~; 'a=1|2' means either; joined
by and (or a comma), or, not, parentheses. Lines of alp work: see docs/access.md.

Exit status: 0 done, 1 failed to run (also: an empty log, or more than --max-bad
percent of its lines do not parse), 2 usage.`
}

// Run runs the command.
func (c *accessCmd) Run(ctx context.Context, e *env) error {
	if len(c.Files) == 3 && c.Files[0] == "diff" {
		if err := c.noDiffFlags(); err != nil {
			return err
		}
		d := diffCmd{Before: c.Files[1], After: c.Files[2], Kind: "access", accessFlags: c.accessFlags, Limit: c.Limit, Format: c.Format, JSON: c.JSON, Literals: c.Literals}
		return d.Run(ctx, e)
	}
	table, err := c.check(e)
	if err != nil {
		return err
	}
	opt, err := c.options(ctx)
	if err != nil {
		return err
	}
	// A hostile log creates much garbage and keeps little. A tighter heap costs
	// ordinary logs nothing, because they create no garbage.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	var inputs []*lines.Input
	p, err := orInterrupted(ctx, func() (*iikanji.Profile, error) {
		opened, notes, err := c.open(e)
		if err != nil {
			return nil, err
		}
		defer closeInputs(opened)
		done, stop := readingProgress(e, opened)
		defer stop()
		opt.Done = done
		p, err := accesslog.Read(ctx, opened, opt)
		if err == nil {
			inputs, p.Notes = opened, append(notes, p.Notes...)
		}
		return p, err
	})
	if nothingNew(err) && c.Pos != "" {
		_, err := fmt.Fprintf(e.Stderr, "iikanji: %v\n", err)
		return err
	}
	if err != nil {
		return accessError(ctx, err)
	}
	if !c.Literals {
		if n := redact.Profile(p, false); n > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("what may be a secret is redacted (%s): --literals shows it", report.Number(n, "text")))
		}
	}
	if c.Save != "" {
		if err := saveRedacted(c.Save, p, c.Literals); err != nil {
			return err
		}
	}
	if c.SQL != "" {
		return writeClickHouse(e.Stdout, p)
	}
	if err := table.write(e.Stdout, p); err != nil {
		return err
	}
	if c.Pos != "" && !c.NosavePos {
		return savePositions(c.Pos, c.Files, inputs)
	}
	return nil
}

// noDiffFlags refuses flags that a comparison would ignore.
func (c *accessCmd) noDiffFlags() error {
	for _, f := range []struct {
		name string
		set  bool
	}{{"--where", len(c.Where) > 0}, {"--since", c.Since != ""}, {"--until", c.Until != ""}, {"--by", len(c.By) != 1 || c.By[0] != "route"}, {"--sort", c.Sort != ""},
		{"--columns", len(c.Columns) > 0}, {"--percentiles", c.Percentiles != ""}, {"--top-requests", c.TopRequests != 0}, {"--save", c.Save != ""}, {"--sql", c.SQL != ""}, {"--pos", c.Pos != ""}} {
		if f.set {
			return usageError("access diff has no %s: compare profiles that iikanji access --save wrote with it", f.name)
		}
	}
	return nil
}

// check reports mistakes of the command line.
func (c *accessCmd) check(e *env) (*shownTable, error) {
	keys, err := c.keys()
	if err != nil {
		return nil, usageError("--by: %w", err)
	}
	if len(c.Files) == 0 {
		return nil, usageError("access needs the names of logs, or - for standard input")
	}
	if c.Pos != "" && c.FromOffset != 0 {
		return nil, usageError("--pos and --from-offset exclude each other: both set the start")
	}
	if c.SQL != "" && (len(c.By) != 1 || c.By[0] != "route" || len(c.Matching) > 0 || c.Query || c.Pos != "") {
		return nil, usageError("--sql: the query groups by learned routes and those of --route: use it without --by, -m, --query and --pos")
	}
	if c.TopRequests < 0 {
		return nil, usageError("--top-requests %d: the number of requests is 0 or more", c.TopRequests)
	}
	table, err := c.tableFlags.table(e, report.AccessView(strings.Join(c.By, "+")))
	if err == nil && len(keys) == 1 && (keys[0] == accesslog.ByMinute || keys[0] == accesslog.ByHour) && c.Sort == "" {
		table.options.Sort = keys[0].String() // chronological
	}
	return table, err
}

// keys are the groupings of the rows.
func (c *accessCmd) keys() (keys []accesslog.By, err error) {
	for _, word := range c.By {
		by, err := accesslog.ParseBy(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		keys = append(keys, by)
	}
	return keys, nil
}

// nothingNew reports whether a log has no lines behind the last position.
func nothingNew(err error) bool {
	var empty *accesslog.EmptyError
	return errors.As(err, &empty) && empty.NothingNew
}

// options returns the reader's options.
func (c *accessCmd) options(ctx context.Context) (opt accesslog.Options, err error) {
	if opt, err = c.accessFlags.options(ctx); err != nil {
		return opt, err
	}
	opt.Workers, opt.Whole = c.Workers, c.Pos != ""
	keys, err := c.keys()
	if err != nil {
		return opt, err
	}
	opt.By, opt.ThenBy, opt.Slowest = keys[0], keys[1:], c.TopRequests
	for _, w := range c.Where {
		all, err := accesslog.ParseWhere(w, time.Local)
		if err != nil {
			return opt, usageError("--where: %w", err)
		}
		opt.Where = append(opt.Where, all...)
	}
	for _, t := range []struct {
		flag, value string
		at          *filter.When
	}{{"--since", c.Since, &opt.Since}, {"--until", c.Until, &opt.Until}} {
		if t.value == "" {
			continue
		}
		if *t.at, err = accesslog.ParseWhen(t.value, time.Local); err != nil {
			return opt, usageError("%s: %w", t.flag, err)
		}
	}
	return opt, nil
}

func (f *accessFlags) options(ctx context.Context) (opt accesslog.Options, err error) {
	opt = accesslog.Options{Format: f.LogFormat, Fields: f.Field, QueryKeys: f.Query, DecodeURI: f.DecodeURI, MaxBad: f.MaxBad / 100, Partial: f.Partial, Zone: time.Local}
	if !(f.MaxBad >= 0 && f.MaxBad < 100) { // also not a number
		return opt, usageError("--max-bad %v: not a percentage from 0 to below 100", f.MaxBad)
	}
	if f.MaxBad == 0 {
		opt.MaxBad = -1 // no bad lines; 0 would mean the default
	}
	if f.LogFormat != "" && f.NginxConf != "" {
		return opt, usageError("--log-format and --nginx-conf exclude each other: both set the format")
	}
	if f.NginxConf != "" {
		if opt.Nginx, err = accesslog.ReadNginxConf(f.NginxConf, readGlob); err != nil {
			return opt, err
		}
	}
	for _, r := range f.Route {
		p, err := accesslog.Route(r)
		if err != nil {
			return opt, usageError("--route: %w", err)
		}
		opt.Routes = append(opt.Routes, p)
	}
	if f.Routes != "" {
		all, err := routesFrom(ctx, f.Routes)
		if err != nil {
			return opt, err
		}
		opt.Routes = append(opt.Routes, all...)
	}
	if opt.Nginx != nil {
		opt.Routes = append(opt.Routes, opt.Nginx.Routes...)
	}
	for _, m := range f.Matching {
		all, err := accesslog.Matches(m)
		if err != nil {
			return opt, usageError("-m: %w", err)
		}
		opt.Routes = append(opt.Routes, all...)
	}
	return opt, nil
}

// readGlob reads the files that a pattern names, in order. As in nginx, a plain
// name without a file is an error and a pattern without a match is not.
func readGlob(pattern string) (texts []string, err error) {
	names := []string{pattern}
	if strings.ContainsAny(pattern, "*?[") {
		if names, err = filepath.Glob(pattern); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(b))
	}
	return texts, nil
}

// open opens the logs and seeks to the start of each.
func (c *accessCmd) open(e *env) (inputs []*lines.Input, notes []string, err error) {
	defer func() {
		if err != nil {
			closeInputs(inputs)
		}
	}()
	var known positions
	if c.Pos != "" {
		if known, err = loadPositions(c.Pos); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range c.Files {
		in, err := lines.Open(name, e.Stdin)
		if err != nil {
			return inputs, nil, err
		}
		inputs = append(inputs, in)
		offset := c.FromOffset
		if c.Pos != "" {
			var note string
			offset, note = known.find(name)
			notes = append(notes, note)
		}
		if err := in.SeekTo(offset); err != nil {
			return inputs, nil, err
		}
	}
	return inputs, notes, nil
}

func closeInputs(inputs []*lines.Input) {
	for _, in := range inputs {
		in.Close()
	}
}

// accessError adds hints. Lines that the error quotes are redacted.
func accessError(ctx context.Context, err error) error {
	var unproven *accesslog.UnprovenError
	if errors.As(err, &unproven) {
		redact.Document(&unproven.Examples)
	}
	var unknown *accesslog.UnknownFormatError
	if errors.As(err, &unknown) {
		unknown.First = redact.Text(unknown.First)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fmt.Errorf("interrupted: the log was not read to its end")
	}
	var cut *lines.TruncatedError
	if errors.As(err, &cut) {
		return hinted(err, "--partial counts the lines before the cut")
	}
	return err
}
