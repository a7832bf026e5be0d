package isuumo

import "context"

// Shape of a visit with searches.
const (
	searches      = 2 // of other conditions
	furtherPages  = 2 // of the same conditions
	reachablePage = 5 // users look at the first pages only
	detailPages   = 2
)

// newChairUser makes the i-th user who looks for a chair.
func (ct *contest) newChairUser(i int) *user {
	u := ct.newUser("chair user", i)
	u.visit = u.visitChairs
	return u
}

// newEstateUser makes the i-th user who looks for an estate.
func (ct *contest) newEstateUser(i int) *user {
	u := ct.newUser("estate user", i)
	u.visit = u.visitEstates
	return u
}

// visitChairs is one visit of a user who looks for a chair: searches, a look at
// two chairs, a purchase, and documents of an estate that the chair fits into.
func (u *user) visitChairs(ctx context.Context) error {
	if err := u.top(ctx); err != nil {
		return err
	}
	if err := u.open(func() error { return u.chairConditions(ctx) }); err != nil {
		return err
	}
	found, err := u.search(ctx, u.ct.world.chairPickers, u.searchChairs)
	if err != nil {
		return err
	}
	var chair int32
	var estates []int32
	for range detailPages {
		if chair, err = pickRow(u.rng, found); err != nil {
			return err
		}
		if estates, err = u.openChair(ctx, chair); err != nil {
			return err
		}
	}
	if err := u.purchase(ctx, chair); err != nil {
		return err
	}
	estate, err := u.lookAtEstates(ctx, estates, detailPages)
	if err != nil {
		return err
	}
	return u.order(ctx, estate)
}

// visitEstates is one visit of a user who looks for an estate.
func (u *user) visitEstates(ctx context.Context) error {
	if err := u.top(ctx); err != nil {
		return err
	}
	if err := u.open(func() error { return u.estateConditions(ctx) }); err != nil {
		return err
	}
	found, err := u.search(ctx, u.ct.world.estatePickers, u.searchEstates)
	if err != nil {
		return err
	}
	estate, err := u.lookAtEstates(ctx, found, detailPages)
	if err != nil {
		return err
	}
	return u.order(ctx, estate)
}

// search does the searches of a visit and returns the rows of the last page that
// had some.
func (u *user) search(ctx context.Context, pickers []picker, do func(ctx context.Context, q *query) (page, error)) (last []int32, err error) {
	for range searches {
		q := drawQuery(u.rng, pickers, conditionsAt(int(u.ct.level.Load())), userPage)
		for range 1 + furtherPages {
			var p page
			err := u.open(func() (err error) { p, err = do(ctx, q); return err })
			if err != nil {
				return nil, err
			}
			if len(p.rows) == 0 {
				break
			}
			last = p.rows
			pages := min(p.count/q.size, reachablePage)
			if pages == 0 {
				break
			}
			q.page = u.rng.IntN(pages)
		}
	}
	return last, nil
}

// openChair loads the page of a chair and returns the estates that it recommends.
// A chair that was sold meanwhile ends the visit.
func (u *user) openChair(ctx context.Context, chair int32) (estates []int32, err error) {
	found := false
	err = u.open(
		func() (err error) { found, err = u.chair(ctx, chair); return err },
		func() (err error) { estates, err = u.recommended(ctx, chair); return err })
	if err == nil && !found {
		err = errEnded
	}
	return estates, err
}

// purchase buys a chair, which scores. A chair that was sold meanwhile ends the
// visit. The contest's benchmarker lost the error of a purchase that failed
// without that reason; here it counts, by its rules.
func (u *user) purchase(ctx context.Context, chair int32) error {
	return u.open(func() error {
		done, err := u.buy(ctx, chair)
		if err == nil && !done {
			return errEnded
		}
		if err == nil {
			u.ct.score(eventBuy)
		}
		return err
	})
}
