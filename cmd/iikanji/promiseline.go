package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/show/report"
)

// promiseTime bounds the planning of remedies for promiseLine after a diagnosis.
const promiseTime = 10 * time.Second

// forbiddenOf plans the first remedy of each finding, as far as that is quick and tries
// nothing on the site, and returns those that the policy forbids. A plan of a rewrite
// builds the app, so that rewrites are left to iikanji plan; an index may change the order
// of rows unless the run showed that every statement sorts them.
func forbiddenOf(ctx context.Context, d *diagnose.Diagnosis, site *change.Site) (out []plannedRemedy) {
	ctx, cancel := context.WithTimeout(ctx, promiseTime)
	defer cancel()
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Doubt || len(f.Remedies) == 0 || ctx.Err() != nil {
			continue
		}
		p := plannedRemedy{Ref: refOf(f.Code, 1), Where: f.Where, Gain: &f.Gain, Remedy: f.Remedies[0]}
		switch p.Remedy.Kind {
		case "gocode", "patch", iikanji.KindPerson:
		case "ddl":
			if !p.Remedy.Proves(iikanji.RowsSorted) && !slices.Contains(site.Target.Policy.Allow, iikanji.RowOrder) {
				p.Forbidden = []iikanji.Promise{iikanji.RowOrder}
			}
		default:
			p.plan(ctx, site)
		}
		if len(p.Forbidden) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// promiseLine says what which promise would buy: the remedies that the policy forbids, by
// the promises that they weaken, and what permits them; "" if it forbids none.
func promiseLine(t *namedTarget, plans []plannedRemedy) string {
	type bought struct {
		words string
		n     int
		gain  iikanji.Range
	}
	var all []bought
	var names []string
	for _, p := range plans {
		if len(p.Forbidden) == 0 || slices.Contains(p.Forbidden, iikanji.Privacy) { // no policy can permit that
			continue
		}
		for _, f := range p.Forbidden {
			if name := strconv.Quote(f.String()); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		words := inWords(p.Forbidden)
		i := slices.IndexFunc(all, func(b bought) bool { return b.words == words })
		if i < 0 {
			i, all = len(all), append(all, bought{words: words})
		}
		all[i].n++
		if p.Gain != nil {
			all[i].gain.Lo, all[i].gain.Hi = all[i].gain.Lo+p.Gain.Lo, all[i].gain.Hi+p.Gain.Hi
		}
	}
	slices.SortStableFunc(all, func(a, b bought) int {
		if a.gain.Hi > b.gain.Hi {
			return -1
		}
		return 1
	})
	var parts []string
	for _, b := range all {
		parts = append(parts, fmt.Sprintf("%s: %s, up to %.3g s", b.words, report.Number(b.n, "remedy"), b.gain.Hi))
	}
	if len(parts) == 0 {
		return ""
	}
	line := "the policy forbids what weakens " + strings.Join(parts, "; ")
	if t.file == nil { // its rules say what a run's answers may be
		return line
	}
	return line + ". To permit it: allow = [" + strings.Join(names, ", ") + "] below [policy] of iikanji.toml"
}
