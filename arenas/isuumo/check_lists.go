package isuumo

import (
	"iter"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Limits of the lists without pages.
const (
	lowRows         = 20
	recommendedRows = 20
	nazotteRows     = 50
)

// A page is a checked answer: the positions of its rows, and the count of all
// rows of the search.
type page struct {
	rows  []int32
	count int
}

// wantList checks rows against the list of the model. check is the beginning of
// the checks' names. is reports whether a row belongs to the list at all. The
// positions of list are in the order of compareRows.
func wantList(res *scenario.Response, check string, r *rows, got []int32, is func(pos int32) bool,
	compareRows func(a, b int32) int, list iter.Seq[int32], win window) error {
	for _, pos := range got {
		if !is(pos) {
			return scenario.Wrong(res, check+"-match", "id %d does not belong to the list", r.ids[pos])
		}
	}
	if !slices.IsSortedFunc(got, compareRows) {
		return scenario.Wrong(res, check+"-order", "the rows are not in the order of the list")
	}
	if d := compare(list, r.sure.has, got, win); d != nil {
		return scenario.Wrong(res, check+"-rows", "%s", d.describe(r.ids))
	}
	return nil
}

// byPosition compares rows as searches do.
func byPosition(a, b int32) int { return int(a) - int(b) }

// wantSearch checks the rows and the count of a search.
func wantSearch(res *scenario.Response, check string, r *rows, got []int32, count int64, q *query) (page, error) {
	match := r.match(q.sets())
	if err := wantList(res, check, r, got, match.has, byPosition, match.all(), q.window()); err != nil {
		return page{}, err
	}
	if least, most := r.within(match); count < int64(least) || count > int64(most) {
		return page{}, scenario.Wrong(res, check+"-count", "count %d, want %d to %d", count, least, most)
	}
	return page{got, int(count)}, nil
}

// checkChairSearch checks GET /api/chair/search. asked is when the request was
// sent.
func (w *world) checkChairSearch(res *scenario.Response, q *query, asked time.Duration) (page, error) {
	got, count, err := w.readChairs(res, asked)
	if err != nil {
		return page{}, err
	}
	return wantSearch(res, "chair-search", &w.chairs.rows, got, count, q)
}

// checkEstateSearch checks GET /api/estate/search.
func (w *world) checkEstateSearch(res *scenario.Response, q *query) (page, error) {
	got, count, err := w.readEstates(res)
	if err != nil {
		return page{}, err
	}
	return wantSearch(res, "estate-search", &w.estates.rows, got, count, q)
}

// checkChairLow checks GET /api/chair/low_priced.
func (w *world) checkChairLow(res *scenario.Response, asked time.Duration) error {
	got, _, err := w.readChairs(res, asked)
	if err != nil {
		return err
	}
	t := w.chairs
	return wantList(res, "chair-low", &t.rows, got, t.there.has, func(a, b int32) int {
		return byValue(t.all[a].Price, t.all[b].Price, t.ids[a], t.ids[b])
	}, present(t.byPrice, &t.rows), window{0, lowRows})
}

// checkEstateLow checks GET /api/estate/low_priced.
func (w *world) checkEstateLow(res *scenario.Response) error {
	got, _, err := w.readEstates(res)
	if err != nil {
		return err
	}
	t := w.estates
	return wantList(res, "estate-low", &t.rows, got, t.there.has, func(a, b int32) int {
		return byValue(t.all[a].Rent, t.all[b].Rent, t.ids[a], t.ids[b])
	}, present(t.byRent, &t.rows), window{0, lowRows})
}

// present yields the rows of a list that may be in the target.
func present(list []int32, r *rows) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, pos := range list {
			if r.there.has(pos) && !yield(pos) {
				return
			}
		}
	}
}

// checkRecommended checks GET /api/recommended_estate/:id of a chair.
func (w *world) checkRecommended(res *scenario.Response, chair int32) ([]int32, error) {
	got, _, err := w.readEstates(res)
	if err != nil {
		return nil, err
	}
	t, p := w.estates, passageOf(&w.chairs.all[chair])
	is := func(pos int32) bool { return t.fits(pos, p) }
	return got, wantList(res, "recommended", &t.rows, got, is, byPosition, t.which(is), window{0, recommendedRows})
}

// checkNazotte checks POST /api/estate/nazotte of a polygon.
func (w *world) checkNazotte(res *scenario.Response, p polygon) ([]int32, error) {
	got, count, err := w.readEstates(res)
	if err != nil {
		return nil, err
	}
	if count != int64(len(got)) {
		return nil, scenario.Wrong(res, "nazotte-count", "count %d with %d estates", count, len(got))
	}
	t := w.estates
	is := t.inside(p)
	return got, wantList(res, "nazotte", &t.rows, got, is, byPosition, t.which(is), window{0, nazotteRows})
}
