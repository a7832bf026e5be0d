package gosource

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/rewrite"
	"github.com/iikanji/iikanji/internal/site/fact"
	"golang.org/x/tools/go/packages"
)

// Facts are what the source in a folder shows of an app: the places of the levers, the
// statements, and the handlers of the routes. pkg is the package of the app's program,
// relative to the folder; what no import leads to from there belongs to other programs.
// "" stands for all packages of the module. problems are packages that could not be
// read.
func Facts(ctx context.Context, service, dir, pkg string, schema rewrite.Facts) (known []iikanji.Fact, problems []string, err error) {
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("finding the source of %s: %w", service, err)
	}
	res, err := rewrite.Run(ctx, dir, []string{"./..."}, schema, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the source of %s: %w", service, err)
	}
	places, problems := placesOf(dir, res)
	of, err := programFolders(ctx, dir, pkg)
	if err != nil {
		return nil, problems, fmt.Errorf("reading the packages of %s: %w", service, err)
	}
	routes, others := goapp.Routes(res.Packages, of)
	serves := func(file string) bool {
		folder := filepath.Dir(filepath.Join(dir, filepath.FromSlash(file)))
		return !slices.Contains(others, folder) && (of == nil || of[folder])
	}
	for _, p := range places {
		if serves(p.File) {
			known = append(known, fact.TopicCode.Fact(service, fmt.Sprintf("%s %s:%d %s", p.Code, p.File, p.Line, p.Func), p, false))
		}
	}
	for key, s := range sentOf(dir, res.Statements) {
		if file, _, _ := strings.Cut(key, ":"); serves(file) {
			known = append(known, fact.TopicSends.Fact(service, key, s, false))
		}
	}
	for _, r := range routes {
		known = append(known, fact.TopicHandler.Fact(service, r.Route, fact.Handler{Func: r.Func, Reaches: r.Reaches}, false))
	}
	return known, problems, nil
}

// programFolders are the folders of the packages that a program is built from, within
// the module of a folder; nil for all, if the program is not known.
func programFolders(ctx context.Context, dir, pkg string) (map[string]bool, error) {
	if pkg == "" {
		return nil, nil
	}
	roots, err := goapp.Imports(ctx, dir, pkg)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	packages.Visit(roots, nil, func(p *packages.Package) {
		if rel, err := filepath.Rel(dir, p.Dir); p.Dir != "" && err == nil && filepath.IsLocal(rel) {
			out[p.Dir] = true
		}
	})
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// sentOf are the whole statements of the source, in the order of their places. The
// key has the file, relative to the folder, and the line.
func sentOf(dir string, list []rewrite.Statement) iter.Seq2[string, fact.SentStatement] {
	return func(yield func(string, fact.SentStatement) bool) {
		var fp slowlog.Fingerprinter
		for _, s := range list {
			rel, err := filepath.Rel(dir, s.File)
			if err != nil || !filepath.IsLocal(rel) || !s.Whole {
				continue
			}
			sent := fact.SentStatement{Func: s.Func, Text: s.Text, Digest: digestOf(&fp, s.Text)}
			if s.Named {
				sent.Digest = digestOf(&fp, sqltext.Positional(s.Text))
			}
			if !yield(fmt.Sprintf("%s:%d", filepath.ToSlash(rel), s.Line), sent) {
				return
			}
		}
	}
}

// digestOf is the digest of a text as that of the statements that a database logs.
func digestOf(fp *slowlog.Fingerprinter, sql string) string {
	return fmt.Sprintf("%016x", slowlog.Digest(fp.Fingerprint([]byte(strings.TrimSpace(sql)))))
}

// digestsOf are the digests that a database may log of a text: its own, and that of the
// statement that sqlx makes of one with named placeholders.
func digestsOf(fp *slowlog.Fingerprinter, sql string) []string {
	digests := []string{digestOf(fp, sql)}
	if sent := sqltext.Positional(sql); sent != sql {
		digests = append(digests, digestOf(fp, sent))
	}
	return digests
}

// placesOf are the places of a result, and the packages that could not be read.
func placesOf(dir string, res *rewrite.Result) (places []fact.CodePlace, problems []string) {
	for _, p := range res.Problems {
		problems = append(problems, p.Package+": "+p.Text)
	}
	reads := readsOf(res.Statements)
	var fp slowlog.Fingerprinter
	for _, h := range res.Hits {
		rel, err := filepath.Rel(dir, h.File)
		if err != nil || !filepath.IsLocal(rel) {
			continue // of a module outside of the source
		}
		place := fact.CodePlace{Code: iikanji.Code(h.Code), File: filepath.ToSlash(rel), Line: h.Line, Func: h.Func,
			Statements: h.Statements, What: h.What, How: h.How, Weakens: weakens(h), Drops: h.Drops, Capacity: h.Capacity, Pool: h.Pool, Waits: h.Waits,
			Source: dir}
		if h.Reason != nil {
			place.Reason = h.Reason.In(dir)
		}
		if h.Code == queryCache { // it serves all packages
			place.Statements = reads
		}
		for _, sql := range place.Statements {
			place.Digests = append(place.Digests, digestsOf(&fp, sql)...)
		}
		for _, v := range h.Variants {
			place.Variants = append(place.Variants, v.Title)
		}
		places = append(places, place)
	}
	return places, problems
}

// queryCache is the lever whose place is where the pool is opened, and whose
// statements are those of the whole app.
const queryCache = "APP207"

// readsOf are the whole statements that read, each text once.
func readsOf(list []rewrite.Statement) (out []string) {
	for _, s := range list {
		if s.Whole && rewrite.IsSelect(s.Text) && !slices.Contains(out, s.Text) {
			out = append(out, s.Text)
		}
	}
	return out
}

// weakens lists the promises that the fixes of a hit weaken. A promise that this
// version does not know is left out: a plan refuses it.
func weakens(h rewrite.Hit) []iikanji.Promise {
	var out []iikanji.Promise
	if len(h.Variants) > 0 && h.Proof == rewrite.Tested {
		out = append(out, iikanji.TestedOnly)
	}
	var p iikanji.Promise
	if h.Promise != rewrite.NoPromise && p.UnmarshalText([]byte(h.Promise)) == nil && !slices.Contains(out, p) {
		out = append(out, p)
	}
	return out
}
