package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/rewrite"
)

type lintCmd struct {
	Patterns []string `arg:"" optional:"" help:"Packages, as for go vet. Without any: ./..."`

	Dir   string   `help:"Folder of the module." default:"." type:"existingdir"`
	Fix   bool     `help:"Apply the proven fixes." xor:"do"`
	Diff  bool     `help:"Show what --fix would change; change nothing." xor:"do"`
	JSON  bool     `help:"Print one JSON document: all places with their fixes." xor:"do"`
	Allow []string `help:"Also fixes that weaken these promises: row-order, isolation, durability, freshness, behaviour, tested-only." placeholder:"PROMISE,…"`
	Only  []string `help:"Only these codes." placeholder:"APP201,…"`
	SQL   []string `name:"sql" help:"SQL files with the schema. Without any: *.sql of the module and of the folders sql beside it." placeholder:"FILE,…"`
}

// Help returns the long help of the command.
func (lintCmd) Help() string {
	return `Finds slow uses of a database and other slow code in Go source, without a
server and without the network. A fix is proposed only where types and data flow
prove that the answers stay the same. The schema in SQL files, if there are any,
shows unique keys and large columns.

As a tool of go vet: go vet -vettool=$(which iikanji) ./...

Examples:
  iikanji lint ./...
  iikanji lint --diff
  iikanji lint --fix --allow row-order ./internal/...

Exit status: 0 nothing found or fixed, 1 failed to run, 2 usage, 3 places found.`
}

// lintFlags accepts -fix, -diff and -json, as the tools of go vet have them.
func lintFlags(args []string) []string {
	if len(args) == 0 || args[0] != "lint" {
		return args
	}
	out := slices.Clone(args)
	for i, a := range out {
		switch a {
		case "-fix", "-diff", "-json":
			out[i] = "-" + a
		}
	}
	return out
}

// Run runs the command.
func (c *lintCmd) Run(ctx context.Context, e *env) error {
	c.enter()
	patterns := c.patterns()
	f, err := c.schema()
	if err != nil {
		return err
	}
	levers, err := c.levers()
	if err != nil {
		return err
	}
	res, err := rewrite.Run(ctx, c.Dir, patterns, f, levers)
	if err != nil {
		return err
	}
	for _, p := range res.Problems {
		fmt.Fprintf(e.Stderr, "iikanji: %s is not analysed: %s\n", p.Package, p.Text)
	}
	if len(res.Files) == 0 { // that nothing was found would be no answer
		return hinted(fmt.Errorf("no package of %s was analysed", strings.Join(patterns, " ")), "go vet "+strings.Join(patterns, " ")+" tells what is wrong with them")
	}
	switch {
	case c.JSON:
		return writeJSON(e.Stdout, res)
	case c.Fix, c.Diff:
		return c.rewrite(e, res)
	}
	out := &output{w: e.Stdout}
	for _, h := range res.Hits {
		out.line("%s:%d:%d: %s: %s; %s", c.short(h.File), h.Line, h.Col, h.Code, h.What, c.advice(h))
	}
	if out.err == nil && len(res.Hits) > 0 {
		return &exitError{Status: exitChecks}
	}
	return out.err
}

// enter makes the only pattern the folder of the module if it is the folder of another one.
func (c *lintCmd) enter() {
	if len(c.Patterns) != 1 {
		return
	}
	folder := strings.TrimSuffix(strings.TrimSuffix(c.Patterns[0], "..."), "/")
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(c.Dir, folder)
	}
	if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil && filepath.Clean(folder) != filepath.Clean(c.Dir) {
		c.Dir, c.Patterns = folder, nil
	}
}

// patterns are the packages to analyse: ./... without any. A folder of the module may be
// written without ./, which the go command would take for a package of the library.
func (c *lintCmd) patterns() []string {
	if len(c.Patterns) == 0 {
		return []string{"./..."}
	}
	out := slices.Clone(c.Patterns)
	for i, p := range out {
		folder, _ := strings.CutSuffix(p, "...")
		if filepath.IsAbs(p) || strings.HasPrefix(p, ".") || folder == "" {
			continue
		}
		if info, err := os.Stat(filepath.Join(c.Dir, filepath.FromSlash(folder))); err == nil && info.IsDir() {
			out[i] = "./" + p
		}
	}
	return out
}

// advice is what to do, with the promise that the fix weakens.
func (c *lintCmd) advice(h rewrite.Hit) string {
	switch {
	case h.Reason != nil:
		return fmt.Sprintf("%s (no automatic fix: %s, %s:%d)", h.How, h.Reason.Text, c.short(h.Reason.File), h.Reason.Line)
	case h.Promise != rewrite.NoPromise:
		return fmt.Sprintf("%s (--allow %s)", h.How, h.Promise)
	}
	return h.How
}

// levers are the selected levers; nil for all.
func (c *lintCmd) levers() (out []*rewrite.Lever, err error) {
	for _, code := range c.Only {
		l := rewrite.Lookup(strings.ToUpper(code))
		if l == nil {
			return nil, usageError("there is no lever %q", code)
		}
		out = append(out, l)
	}
	return out, nil
}

// allowed reports whether a fix may be applied.
func (c *lintCmd) allowed(h rewrite.Hit) bool {
	switch {
	case len(h.Variants) == 0:
		return false
	case h.Proof == rewrite.Tested && !slices.Contains(c.Allow, string(rewrite.TestedOnly)):
		return false
	}
	return h.Promise == rewrite.NoPromise || slices.Contains(c.Allow, string(h.Promise))
}

// rewrite applies the allowed fixes, or shows them. A fix that overlaps one before
// it is left for the next call.
func (c *lintCmd) rewrite(e *env, res *rewrite.Result) error {
	var fixes []goapp.Fix
	after := map[string][]byte{}
	left := 0
	for _, h := range res.Hits {
		if !c.allowed(h) {
			continue
		}
		next, err := goapp.Apply(res.Files, append(slices.Clone(fixes), h.Variants[0]))
		if errors.Is(err, goapp.ErrOverlap) {
			left++
			continue
		}
		if err != nil {
			return err
		}
		fixes, after = append(fixes, h.Variants[0]), next
	}
	out := &output{w: e.Stdout, color: e.Color}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if c.Diff {
			short := filepath.ToSlash(c.short(name))
			out.line("%s", strings.TrimSuffix(string(diff.Diff("a/"+short, res.Files[name], "b/"+short, after[name])), "\n"))
			continue
		}
		if err := rewriteFile(name, after[name]); err != nil {
			return err
		}
		out.line("%s", c.short(name))
	}
	if left > 0 {
		fmt.Fprintf(e.Stderr, "iikanji: %d fixes overlap others: run the command again\n", left)
	}
	if c.Diff && len(after) > 0 && out.err == nil {
		return &exitError{Status: exitChecks}
	}
	return out.err
}

// rewriteFile writes a file beside the old one and renames it, with the old mode.
func rewriteFile(name string, text []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".iikanji-lint-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer os.Remove(f.Name()) // fails after the rename
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// short is a file name as a person in the current folder writes it.
func (c *lintCmd) short(name string) string {
	wd, err := os.Getwd()
	if err != nil {
		return name
	}
	rel, err := filepath.Rel(wd, name)
	if err != nil || strings.HasPrefix(rel, ".."+string(filepath.Separator)+"..") {
		return name
	}
	return rel
}

// schema reads the SQL files.
func (c *lintCmd) schema() (rewrite.Facts, error) {
	files := c.SQL
	if len(files) == 0 {
		files = schemaFiles(c.Dir)
	}
	var texts []string
	for _, name := range files {
		text, err := readSchema(name)
		if err != nil {
			if len(c.SQL) > 0 {
				return rewrite.Facts{}, fmt.Errorf("reading the schema: %w", err)
			}
			continue // a file that was only found
		}
		texts = append(texts, text)
	}
	return rewrite.Schema(texts...), nil
}

const (
	// maxSchema bounds an SQL file: dumps with rows are larger.
	maxSchema = 4 << 20
	// maxSchemaFiles bounds the search in large trees.
	maxSchemaFiles = 500
)

func readSchema(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSchema {
		return "", fmt.Errorf("%s is no file of at most %d bytes", name, maxSchema)
	}
	text, err := os.ReadFile(name)
	return string(text), err
}

// schemaFiles finds *.sql of a module and of the folders sql, db, schema and
// migrations beside the module and beside its two parents.
func schemaFiles(dir string) (files []string) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	for up := root; up != filepath.Dir(up); up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			root = up
			break
		}
	}
	folders := []string{root}
	for up, level := filepath.Dir(root), 0; level < 2 && up != filepath.Dir(up); up, level = filepath.Dir(up), level+1 {
		for _, name := range []string{"sql", "db", "schema", "migrations"} {
			folders = append(folders, filepath.Join(up, name))
		}
	}
	for _, folder := range folders {
		filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // a folder that cannot be read has no schema
			case len(files) >= maxSchemaFiles:
				return filepath.SkipAll
			case d.IsDir() && name != folder && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "vendor" || d.Name() == "testdata"):
				return filepath.SkipDir
			case !d.IsDir() && strings.HasSuffix(d.Name(), ".sql"):
				files = append(files, name)
			}
			return nil
		})
	}
	return files
}

// maybeVet runs this process as a tool of go vet if its arguments are those of the
// protocol: -V=full, -flags, or a file *.cfg. It does not return then.
func maybeVet(args []string) {
	if len(args) < 2 {
		return
	}
	last := args[len(args)-1]
	if !strings.HasPrefix(args[1], "-V=") && args[1] != "-flags" && !strings.HasSuffix(last, ".cfg") {
		return
	}
	if strings.HasSuffix(last, ".cfg") && !strings.HasPrefix(filepath.Base(last), "vet") && len(args) == 2 {
		return // a file of a user
	}
	c := &lintCmd{Dir: "."}
	f, err := c.schema()
	if err != nil {
		f = rewrite.Facts{}
	}
	var analyzers []*analysis.Analyzer
	for _, l := range rewrite.All() {
		analyzers = append(analyzers, rewrite.WithImports(l.Analyzer(f)))
	}
	unitchecker.Main(analyzers...)
}
