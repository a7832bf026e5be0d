package gosource

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lever"
	"github.com/iikanji/iikanji/internal/slowlog"
)

// Facts are what the source in a folder shows of an app: the places of the levers,
// and the handlers of the routes. problems are packages that could not be read.
func Facts(ctx context.Context, service, dir string, schema lever.Facts) (known []iikanji.Fact, problems []string, err error) {
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("finding the source of %s: %w", service, err)
	}
	places, problems, err := Places(ctx, dir, schema)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the source of %s: %w", service, err)
	}
	handlers, others, err := Handlers(ctx, dir)
	for _, p := range places {
		folder := filepath.Dir(filepath.Join(dir, filepath.FromSlash(p.File)))
		if !slices.Contains(others, folder) {
			known = append(known, fact(service, iikanji.TopicCode, fmt.Sprintf("%s %s:%d %s", p.Code, p.File, p.Line, p.Func), p))
		}
	}
	if err != nil {
		return known, problems, fmt.Errorf("reading the routes of %s: %w", service, err)
	}
	for _, h := range handlers {
		known = append(known, fact(service, iikanji.TopicHandler, h.Route, h.Handler))
	}
	return known, problems, nil
}

// Places runs every lever on the source in a folder. Digests are computed as those
// of the statements that a database logs.
func Places(ctx context.Context, dir string, schema lever.Facts) (places []iikanji.CodePlace, problems []string, err error) {
	res, err := lever.Run(ctx, dir, []string{"./..."}, schema, nil)
	if err != nil {
		return nil, nil, err
	}
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
		place := iikanji.CodePlace{Code: iikanji.Code(h.Code), File: filepath.ToSlash(rel), Line: h.Line, Func: h.Func,
			Statements: h.Statements, What: h.What, How: h.How, Weakens: weakens(h), Drops: h.Drops}
		if h.Code == queryCache { // it serves all packages
			place.Statements = reads
		}
		for _, sql := range place.Statements {
			place.Digests = append(place.Digests, fmt.Sprintf("%016x", slowlog.Digest(fp.Fingerprint([]byte(strings.TrimSpace(sql))))))
		}
		for _, v := range h.Variants {
			place.Variants = append(place.Variants, v.Title)
		}
		places = append(places, place)
	}
	return places, problems, nil
}

// queryCache is the lever whose place is where the pool is opened, and whose
// statements are those of the whole app.
const queryCache = "APP207"

// readsOf are the whole statements that read, each text once.
func readsOf(list []lever.Statement) (out []string) {
	for _, s := range list {
		if s.Whole && lever.IsSelect(s.Text) && !slices.Contains(out, s.Text) {
			out = append(out, s.Text)
		}
	}
	return out
}

// weakens lists the promises that the fixes of a hit weaken. A promise that this
// version does not know is left out: a plan refuses it.
func weakens(h lever.Hit) []iikanji.Promise {
	var out []iikanji.Promise
	if len(h.Variants) > 0 && h.Proof == lever.Tested {
		out = append(out, iikanji.TestedOnly)
	}
	var p iikanji.Promise
	if h.Promise != lever.NoPromise && p.UnmarshalText([]byte(h.Promise)) == nil && !slices.Contains(out, p) {
		out = append(out, p)
	}
	return out
}

func fact(service, topic, key string, v any) iikanji.Fact {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("BUG: packing fact %s %s: %v", topic, key, err))
	}
	return iikanji.Fact{Target: service, Topic: topic, Key: key, Value: string(b)}
}
