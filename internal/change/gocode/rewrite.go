package gocode

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/rewrite"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// A task is one plan: the rewrites in a copy of the source.
type task struct {
	args    *fixArgs
	schema  rewrite.Facts
	service string
	seen    []string // texts of statements of the observed run that the source does not show
	copy    change.SourceCopy

	what     []string // of the places, each text once
	refused  []string // the places without a fix: the condition and the line
	tested   bool     // a fix is not proven by types and flow
	declared []iikanji.Promise
	own      change.OwnTests // of the app
}

// rewrite applies the fixes of each lever to the copy in dir, in their order.
func (t *task) rewrite(ctx context.Context, s *change.Site, h host.Host, dir string) error {
	if err := t.declares(h, dir); err != nil {
		return err
	}
	for _, code := range t.args.Levers {
		if code == queryCache {
			if err := t.cache(ctx, s, h, dir); err != nil {
				return err
			}
			continue
		}
		l := rewrite.Lookup(code)
		if l == nil {
			return fmt.Errorf("there is no lever %s", code)
		}
		if err := t.apply(ctx, h, dir, l); err != nil {
			return err
		}
	}
	return nil
}

// mostRounds bounds the fixes of one lever that are made one after the other in a function.
const mostRounds = 3

// apply makes the fixes of a lever in the copy, again where one may make another one possible.
func (t *task) apply(ctx context.Context, h host.Host, dir string, l *rewrite.Lever) error {
	for round := range mostRounds {
		res, err := rewrite.Run(ctx, dir, []string{"./..."}, t.schema, []*rewrite.Lever{l})
		if err != nil {
			return fmt.Errorf("reading the source: %w", err)
		}
		fixes, err := t.choose(dir, res.Hits)
		if err != nil {
			return err
		}
		if len(fixes) == 0 {
			return nil
		}
		files, err := goapp.Apply(res.Files, fixes)
		if errors.Is(err, goapp.ErrOverlap) && len(fixes) > 1 && l.Again { // the others are found again
			files, err = goapp.Apply(res.Files, fixes[:1])
		}
		if err != nil {
			return &DefectError{Levers: []string{l.Code}, Func: t.args.Func, Err: err}
		}
		if err := t.copy.Write(h, dir, files); err != nil {
			return err
		}
		if !l.Again || t.args.Variant != "" || round+1 == mostRounds {
			return nil
		}
	}
	return nil
}

// declares checks that the file still has the function.
func (t *task) declares(h host.Host, dir string) error {
	body, err := h.Read(filepath.Join(dir, filepath.FromSlash(t.args.File)))
	if err != nil {
		return fmt.Errorf("reading %s: %w", t.args.File, errors.Join(errNoPlace, err))
	}
	f, err := parser.ParseFile(token.NewFileSet(), t.args.File, body, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("reading %s: %w", t.args.File, err)
	}
	if t.args.Func == "" {
		return nil
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && goapp.FuncName(fn) == t.args.Func {
			return nil
		}
	}
	return fmt.Errorf("planning a rewrite of %s in %s: %w", t.args.Func, t.args.File, errNoPlace)
}

// choose returns the fixes of the named place among the hits of a lever.
func (t *task) choose(dir string, hits []rewrite.Hit) ([]goapp.Fix, error) {
	var fixes []goapp.Fix
	for _, h := range hits {
		rel, err := filepath.Rel(dir, h.File)
		if err != nil || filepath.ToSlash(rel) != t.args.File || h.Func != t.args.Func {
			continue
		}
		if h.Reason != nil {
			t.refused = append(t.refused, h.Reason.In(dir))
			continue
		}
		if t.args.Place != "" && h.What != t.args.Place {
			continue
		}
		fix, err := t.variant(h)
		if err != nil {
			return nil, err
		}
		fixes = append(fixes, fix)
		t.tested = t.tested || h.Proof != rewrite.Proven
		if h.Promise != rewrite.NoPromise {
			var p iikanji.Promise
			if err := p.UnmarshalText([]byte(h.Promise)); err != nil {
				return nil, fmt.Errorf("reading what %s weakens: %w", h.Code, err)
			}
			t.declared = append(t.declared, p)
		}
		if !slices.Contains(t.what, h.How) {
			t.what = append(t.what, h.How)
		}
	}
	return fixes, nil
}

// variant is the fix of a place that the remedy names, or its only one.
func (t *task) variant(h rewrite.Hit) (goapp.Fix, error) {
	if t.args.Variant == "" && len(h.Variants) == 1 {
		return h.Variants[0], nil
	}
	var titles []string
	for _, v := range h.Variants {
		if v.Title == t.args.Variant {
			return v, nil
		}
		titles = append(titles, fmt.Sprintf("%q", v.Title))
	}
	return goapp.Fix{}, fmt.Errorf("variant: want one of %s", strings.Join(titles, ", "))
}

// maxSays is the most bytes of a description.
const maxSays = 300

// says describes the change: what is done, where, and how many lines it touches.
func (t *task) says(edits []change.Edit) string {
	var names []string
	for _, e := range edits {
		rel, err := filepath.Rel(t.copy.Source, e.Path)
		if err != nil {
			rel = filepath.Base(e.Path)
		}
		if rel = filepath.ToSlash(rel); !t.copy.InFolder(rel) {
			names = append(names, rel)
		}
	}
	if folder := t.copy.Folder(); folder != "" {
		names = append(names, "new folder "+folder)
	}
	text := strings.Join(t.what, "; ")
	if t.args.Variant != "" {
		text = t.args.Place + ": " + t.args.Variant
	}
	text = fmt.Sprintf("%s in %s (%s; %s)", plain.CutBytes(text, maxSays), placeOf(t.args.Func), strings.Join(t.args.Levers, ", "), strings.Join(names, ", "))
	if own := t.own.String(); own != "" {
		text += "; " + own
	}
	return text
}
