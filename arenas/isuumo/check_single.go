package isuumo

import (
	"net/http"
	"reflect"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// checkChair checks GET /api/chair/:id of a chair that is in the target. found is
// false if the chair may be sold out and the target does not show it.
func (w *world) checkChair(res *scenario.Response, pos int32, asked time.Duration) (found bool, err error) {
	t := w.chairs
	if res.Status == http.StatusNotFound {
		if !t.maybeGone(pos) {
			return false, scenario.Wrong(res, "chair-missing", "chair %d is in stock", t.ids[pos])
		}
		return false, nil
	}
	if t.soldBefore(pos, asked) {
		return false, scenario.Wrong(res, "chair-sold-out", "chair %d was sold out before the request", t.ids[pos])
	}
	r, err := verify.OpenJSON(res, http.StatusOK)
	if err != nil {
		return false, err
	}
	c := readChair(&r)
	if err := verify.EndJSON(res, &r); err != nil {
		return false, err
	}
	if c.differs(&t.all[pos]) {
		return false, scenario.Wrong(res, "chair-fields", "chair %d is not as it was loaded", t.ids[pos])
	}
	return true, nil
}

// checkEstate checks GET /api/estate/:id of an estate that is in the target.
func (w *world) checkEstate(res *scenario.Response, pos int32) error {
	t := w.estates
	if res.Status == http.StatusNotFound {
		return scenario.Wrong(res, "estate-missing", "estate %d is in the data", t.ids[pos])
	}
	r, err := verify.OpenJSON(res, http.StatusOK)
	if err != nil {
		return err
	}
	e := readEstate(&r)
	if err := verify.EndJSON(res, &r); err != nil {
		return err
	}
	if e.differs(&t.all[pos]) {
		return scenario.Wrong(res, "estate-fields", "estate %d is not as it was loaded", t.ids[pos])
	}
	return nil
}

// checkConditions checks the condition file of a search page.
func checkConditions[T any](res *scenario.Response, check string, want T) error {
	var got T
	if err := scenario.WantJSON(res, http.StatusOK, &got); err != nil {
		return err
	}
	if !reflect.DeepEqual(got, want) {
		return scenario.Wrong(res, check, "the conditions are not those of the condition file")
	}
	return nil
}
