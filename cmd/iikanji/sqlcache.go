package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/rewrite"
	"github.com/iikanji/iikanji/internal/rewrite/cacheplan"
	"github.com/iikanji/iikanji/internal/rewrite/sqlcache"
	"github.com/iikanji/iikanji/internal/show/plain"
)

type sqlcacheCmd struct {
	Patterns []string `arg:"" optional:"" help:"Packages that send statements. Without any: ./..."`

	Dir      string   `help:"Folder of the module." default:"." type:"existingdir"`
	SQL      []string `name:"sql" help:"SQL files with CREATE TABLE for every table, such as the output of mysqldump --no-data." placeholder:"FILE,…" type:"path"`
	Write    string   `help:"Write the package into this folder of the module; without it, only show the plan." placeholder:"FOLDER"`
	Strict   bool     `help:"The server refuses values that do not fit their column (sql_mode has STRICT_TRANS_TABLES)." default:"true" negatable:""`
	Driver   string   `help:"Driver by which the app opens its pools." default:"mysql" enum:"mysql,sqlite,sqlite3"`
	Routines bool     `help:"A stored function of the schema writes."`
	JSON     bool     `help:"Print the plan and the reasons as JSON."`
}

// Help returns the long help of the command.
func (sqlcacheCmd) Help() string {
	return `Makes a query cache for a Go app with MySQL, MariaDB or SQLite: from the statements in
its source and the definitions of its tables, a plan of which answers may be kept and
what each write invalidates. --write puts a package into the app's source: a copy
of the cache and the plan. iikanji help sqlcache tells the promise and its conditions.

Examples:
  iikanji sqlcache --sql schema.sql
  iikanji sqlcache --sql schema.sql --write sqlcache
  iikanji sqlcache --driver sqlite3 --sql schema.sql --write sqlcache

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// cachePlanAnswer is the answer of --json.
type cachePlanAnswer struct {
	Plan    sqlcache.Plan      `json:"plan"`
	Reasons []cacheplan.Reason `json:"reasons"`
	Files   []string           `json:"files,omitempty"`
}

// Run runs the command.
func (c *sqlcacheCmd) Run(ctx context.Context, e *env) error {
	plan, reasons, err := c.plan(ctx, e)
	if err != nil {
		return err
	}
	answer := cachePlanAnswer{Plan: plan, Reasons: reasons}
	if c.Write != "" {
		if answer.Files, err = c.write(plan); err != nil {
			return err
		}
	}
	if c.JSON {
		return writeJSON(e.Stdout, answer)
	}
	c.print(e, answer)
	return nil
}

// plan reads the source and the schema.
func (c *sqlcacheCmd) plan(ctx context.Context, e *env) (sqlcache.Plan, []cacheplan.Reason, error) {
	patterns := c.Patterns
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	found, err := rewrite.Statements(ctx, c.Dir, patterns)
	if err != nil {
		return sqlcache.Plan{}, nil, err
	}
	for _, p := range found.Problems {
		fmt.Fprintf(e.Stderr, "iikanji: %s is left out: %s\n", plain.Line(p.Package), plain.Line(p.Text))
	}
	var texts []string
	var reasons []cacheplan.Reason
	for _, s := range found.Statements {
		if !s.Whole {
			reasons = append(reasons, cacheplan.Reason{Text: s.Text, Why: "a part of the text is computed"})
			continue
		}
		if s.Named {
			s.Text = sqltext.Positional(s.Text)
		}
		texts = append(texts, s.Text)
	}
	plan, more, err := c.build(ctx, texts)
	var loops []cacheplan.Loop
	for _, l := range found.Loops {
		loops = append(loops, cacheplan.Loop(l))
	}
	cacheplan.Link(&plan, loops)
	return plan, append(reasons, more...), err
}

// build makes the plan by the definitions of the tables.
func (c *sqlcacheCmd) build(ctx context.Context, texts []string) (sqlcache.Plan, []cacheplan.Reason, error) {
	if c.base() == mysqlDriver {
		schema, err := c.schema()
		if err != nil {
			return sqlcache.Plan{}, nil, err
		}
		plan, reasons := cacheplan.Build(schema, texts)
		return plan, reasons, nil
	}
	var definitions strings.Builder
	for _, file := range c.SQL {
		text, err := os.ReadFile(file)
		if err != nil {
			return sqlcache.Plan{}, nil, fmt.Errorf("reading a schema: %w", err)
		}
		definitions.Write(text)
		definitions.WriteString("\n;\n")
	}
	if len(c.SQL) == 0 {
		return sqlcache.Plan{}, nil, hinted(errNoSchema, "give them with --sql: sqlite3 FILE .schema prints them")
	}
	return cacheplan.BuildSQLite(ctx, definitions.String(), texts)
}

// mysqlDriver is the driver of MySQL and MariaDB.
const mysqlDriver = "mysql"

// base is the driver below the cache.
func (c *sqlcacheCmd) base() string {
	if c.Driver == "" {
		return mysqlDriver
	}
	return c.Driver
}

var errNoSchema = errors.New("no definitions of tables")

func (c *sqlcacheCmd) schema() (*cacheplan.Schema, error) {
	var creates []string
	triggers := map[string]bool{}
	for _, file := range c.SQL {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a schema: %w", err)
		}
		made, on := cacheplan.Definitions(string(text))
		creates = append(creates, made...)
		for _, t := range on {
			triggers[t] = true
		}
	}
	if len(creates) == 0 {
		return nil, hinted(errNoSchema, "give them with --sql: mysqldump --no-data writes such a file")
	}
	s, err := cacheplan.ReadSchema(creates)
	if err != nil {
		return nil, err
	}
	s.Triggers, s.Strict, s.Routines = triggers, c.Strict, c.Routines
	return s, nil
}

// write writes the package. A folder that holds other files is refused.
func (c *sqlcacheCmd) write(p sqlcache.Plan) ([]string, error) {
	files, err := cacheplan.FilesFor(p, c.base())
	if err != nil {
		return nil, err
	}
	if !filepath.IsLocal(c.Write) {
		return nil, fmt.Errorf("--write %s: it is not a folder below the module", c.Write)
	}
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("writing the package: %w", err)
	}
	defer root.Close()
	if err := root.MkdirAll(c.Write, 0o755); err != nil {
		return nil, fmt.Errorf("writing the package: %w", err)
	}
	there, err := os.ReadDir(filepath.Join(c.Dir, c.Write))
	if err != nil {
		return nil, fmt.Errorf("writing the package: %w", err)
	}
	var present []string
	for _, f := range there {
		present = append(present, plain.Line(f.Name()))
	}
	if err := (goapp.Addition{Folder: c.Write, Files: files}).Fits(present); err != nil {
		return nil, fmt.Errorf("--write: %w", err)
	}
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if err := root.WriteFile(filepath.Join(c.Write, name), files[name], 0o644); err != nil {
			return nil, fmt.Errorf("writing the package: %w", err)
		}
	}
	return names, nil
}

func (c *sqlcacheCmd) print(e *env, a cachePlanAnswer) {
	kept, writes := 0, 0
	for _, s := range a.Plan.Statements {
		if s.Keep {
			kept++
		} else {
			writes++
		}
	}
	fmt.Fprintf(e.Stdout, "answers that are kept: %d statements; writes that invalidate by table or key: %d\n", kept, writes)
	for _, s := range a.Plan.Statements {
		if s.Keep {
			fmt.Fprintf(e.Stdout, "  kept   %s\n", plain.Cut(plain.Line(s.Text), 70))
		}
	}
	for i, b := range a.Plan.Batches {
		if i == 0 {
			fmt.Fprintf(e.Stdout, "read ahead in loops over another answer: %d\n", len(a.Plan.Batches))
		}
		fmt.Fprintf(e.Stdout, "  child  %s\n         key %s, argument %d: %s\n", plain.Cut(plain.Line(b.Child), 70), b.Column, b.Key+1, plain.Cut(plain.Line(b.Head+"…"+b.Tail), 90))
		if b.Ties {
			fmt.Fprintln(e.Stdout, "         rows that its ORDER BY does not tell apart may come in another order")
		}
		for _, p := range b.Parents {
			fmt.Fprintf(e.Stdout, "         parent %s: %s of %s\n", p.Place, cmp.Or(p.Column, "any column"), plain.Cut(plain.Line(p.Text), 70))
		}
	}
	for _, r := range a.Reasons {
		fmt.Fprintf(e.Stdout, "  not    %s\n         %s\n", plain.Cut(plain.Line(strings.Join(strings.Fields(r.Text), " ")), 70), r.Why)
	}
	if len(a.Files) > 0 {
		fmt.Fprintf(e.Stdout, `
%d files are in %s. Two lines switch the cache on, where the app opens its database:
  import _ "MODULE/%s"     instead of nothing
  sql.Open(%q, dsn)   instead of %q
`, len(a.Files), c.Write, filepath.ToSlash(c.Write), cacheplan.CachedName(c.base()), c.base())
	}
}
