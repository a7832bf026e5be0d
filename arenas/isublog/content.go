package isublog

import (
	"context"
	"maps"
	"slices"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// latestContents is the time of the check of contents in a load of a minute.
const latestContents = loadTime / 3

// checkContents checks pages and static files once under load, after a third of it.
// In a longer load it does not wait longer.
func (ct *contest) checkContents(ctx context.Context) {
	if !scenario.Sleep(ctx, min(ct.s.LoadTime()/3, latestContents)) {
		return
	}
	r := ct.reader(loadTimeout, false)
	defer r.cl.Close()
	rng := ct.s.Rand("contents")
	err := r.article(ctx, ct.plan.article.ID, func(p *blogPage) error { return p.checkArticle(ct.plan.article) })
	if err == nil {
		a := initialArticles()[rng.IntN(Articles)]
		err = r.article(ctx, a.ID, func(p *blogPage) error { return p.checkArticle(a) })
	}
	if err == nil {
		err = ct.checkStaticIn(ctx, loadTimeout, rng)
	}
	if err != nil {
		ct.s.Fail(err)
	}
}

// checkStored checks after the load that each page has every comment that was posted
// to it, in their order.
func (ct *contest) checkStored(ctx context.Context) error {
	r := ct.reader(loadTimeout, false)
	defer r.cl.Close()
	for _, id := range slices.Sorted(maps.Keys(ct.posted)) {
		err := r.article(ctx, id, func(p *blogPage) error {
			if lost := p.missing(ct.posted[id]); lost != nil {
				return p.wrong("comment-lost", "the comment by %.30q is not on the page of article %d, or not in its place", label(lost.Name), id)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
