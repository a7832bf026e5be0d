package isuumo

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// The checks are tested on right answers made of the model's rows, each broken
// in one way.

func testWorld() *world {
	return newWorld(generate(size{initial: 600, verify: 5, files: 2, perFile: 5}), chairConditions(), estateConditions())
}

func jsonAnswer(t *testing.T, v any) *scenario.Response {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return textAnswer(200, "application/json; charset=UTF-8", string(body))
}

func textAnswer(status int, contentType, body string) *scenario.Response {
	return &scenario.Response{Method: "GET", Path: "/x", Status: status, Body: []byte(body),
		Fields: []scenario.HeaderField{{Name: []byte("content-type"), Value: []byte(contentType)}}}
}

// wantFault checks that err is a fault of a check. For check "" there must be no
// fault.
func wantFault(t *testing.T, what string, err error, check string) {
	t.Helper()
	var f *scenario.Fault
	switch {
	case check == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case check != "" && !errors.As(err, &f):
		t.Errorf("%s: no fault, want %s", what, check)
	case check != "" && f.Check != check:
		t.Errorf("%s: fault %v, want %s", what, f, check)
	}
}

// shownChairs are chairs of the model as an answer shows them.
func (w *world) shownChairs(pos []int32) []shownChair {
	return mapped(pos, func(p int32) shownChair { return showChair(w.chairs.all[p]) })
}

func (w *world) shownEstates(pos []int32) []shownEstate {
	return mapped(pos, func(p int32) shownEstate { return showEstate(w.estates.all[p]) })
}

// firstRows are the first n positions of a list after a number of others.
func firstRows(all []int32, after, n int) []int32 {
	return slices.Clone(all[min(after, len(all)):min(after+n, len(all))])
}

// TestTransport checks that every check refuses wrong statuses, types and bodies.
func TestTransport(t *testing.T) {
	w := testWorld()
	q := drawQuery(rand.New(rand.NewPCG(1, 2)), w.chairPickers, 1, userPage)
	checks := map[string]func(res *scenario.Response) error{
		"chair":         func(res *scenario.Response) error { _, err := w.checkChair(res, 0, 1); return err },
		"estate":        func(res *scenario.Response) error { return w.checkEstate(res, 0) },
		"chair search":  func(res *scenario.Response) error { _, err := w.checkChairSearch(res, q, 1); return err },
		"estate search": func(res *scenario.Response) error { _, err := w.checkEstateSearch(res, &query{}); return err },
		"chair low":     func(res *scenario.Response) error { return w.checkChairLow(res, 1) },
		"estate low":    w.checkEstateLow,
		"recommended":   func(res *scenario.Response) error { _, err := w.checkRecommended(res, 0); return err },
		"nazotte":       func(res *scenario.Response) error { _, err := w.checkNazotte(res, polygon{{}, {}}); return err },
		"condition": func(res *scenario.Response) error {
			return checkConditions(res, "chair-condition", w.chairConditions)
		},
	}
	for name, check := range checks {
		for _, bad := range []struct {
			res  *scenario.Response
			kind iikanji.FaultKind
		}{
			{textAnswer(500, "application/json", "{}"), iikanji.FaultStatus},
			{textAnswer(200, "text/html", "{}"), iikanji.FaultContentType},
			{textAnswer(200, "application/json", "{"), iikanji.FaultBody},
			{textAnswer(200, "application/json", ""), iikanji.FaultBody},
			{textAnswer(200, "application/json", "[1]"), iikanji.FaultBody},
			{textAnswer(200, "application/json", "{}"), iikanji.FaultCheck},
		} {
			if err := check(bad.res); scenario.KindOf(err) != bad.kind {
				t.Errorf("%s of %d %q: %v, want a fault of kind %s", name, bad.res.Status, bad.res.Body, err, bad.kind)
			}
		}
	}
}

// TestFields breaks every field of a row.
func TestFields(t *testing.T) {
	w := testWorld()
	for _, c := range []struct {
		row   any
		check func(res *scenario.Response) error
		want  string
	}{
		{showChair(w.chairs.all[0]), func(res *scenario.Response) error { _, err := w.checkChair(res, 0, 1); return err }, "chair-fields"},
		{showEstate(w.estates.all[0]), func(res *scenario.Response) error { return w.checkEstate(res, 0) }, "estate-fields"},
	} {
		wantFault(t, "right", c.check(jsonAnswer(t, c.row)), "")
		text, _ := json.Marshal(c.row)
		var fields object
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		if len(fields) != 11 {
			t.Errorf("%d fields, want 11", len(fields))
		}
		for name, value := range fields {
			broken := func(v any) *scenario.Response {
				o := object{}
				for n, v := range fields {
					o[n] = v
				}
				if o[name] = v; v == nil {
					delete(o, name)
				}
				return jsonAnswer(t, o)
			}
			other := any("別のもの")
			if n, ok := value.(float64); ok {
				other = n + 1
			}
			wantFault(t, "another "+name, c.check(broken(other)), c.want)
			wantFault(t, "no "+name, c.check(broken(nil)), c.want)
		}
		fields["popularity"] = 1
		wantFault(t, "one field more", c.check(jsonAnswer(t, fields)), "")
	}
}

func TestChairSearch(t *testing.T) {
	w := testWorld()
	q := &query{size: 10, page: 1, conditions: []condition{{"heightRangeId", "0", w.chairs.height[0]}}}
	all := slices.Collect(w.chairs.match(q.sets()).all())
	if len(all) < 40 {
		t.Fatalf("%d rows", len(all))
	}
	check := func(count int, rows []int32) error {
		_, err := w.checkChairSearch(jsonAnswer(t, map[string]any{"count": count, "chairs": w.shownChairs(rows)}), q, w.now())
		return err
	}
	right := firstRows(all, 10, 10)
	other := slices.IndexFunc(w.chairs.ids, func(id int64) bool {
		return !w.chairs.height[0].has(w.chairs.at[id]) && w.chairs.there.has(w.chairs.at[id])
	})
	wantFault(t, "right", check(len(all), right), "")
	wantFault(t, "a count more", check(len(all)+1, right), "chair-search-count")
	wantFault(t, "the first page", check(len(all), firstRows(all, 0, 10)), "chair-search-rows")
	wantFault(t, "nine rows", check(len(all), right[:9]), "chair-search-rows")
	wantFault(t, "eleven rows", check(len(all), firstRows(all, 10, 11)), "chair-search-rows")
	wantFault(t, "a hole", check(len(all), append(firstRows(all, 10, 4), firstRows(all, 15, 6)...)), "chair-search-rows")
	wantFault(t, "a row twice", check(len(all), append(firstRows(all, 10, 9), all[18])), "chair-search-rows")
	wantFault(t, "another order", check(len(all), append(firstRows(all, 11, 9), all[10])), "chair-search-order")
	wantFault(t, "another height", check(len(all), append(firstRows(all, 10, 9), int32(other))), "chair-search-match")
	posted := w.chairs.at[600+1]
	wantFault(t, "a row that is posted later", check(len(all), append(firstRows(all, 10, 9), posted)), "chair-unknown")
	q.page = 1000
	wantFault(t, "past the end", check(len(all), nil), "")
}

// TestUncertainRows checks that a posted row may be in a search or not, and that
// a chair must be gone once its last purchase was acknowledged, and not before.
func TestUncertainRows(t *testing.T) {
	w := testWorld()
	c := w.chairs
	q := &query{size: 10, conditions: []condition{{"heightRangeId", "0", c.height[0]}}}
	before := slices.Collect(c.match(q.sets()).all())
	for i := range 15 {
		c.there.add(c.at[int64(601+i)])
	}
	with := slices.Collect(c.match(q.sets()).all())
	if len(with) == len(before) {
		t.Fatal("no posted row matches")
	}
	asked := w.now()
	check := func(count int, rows []int32) error {
		_, err := w.checkChairSearch(jsonAnswer(t, map[string]any{"count": count, "chairs": w.shownChairs(rows)}), q, asked)
		return err
	}
	wantFault(t, "without the posted rows", check(len(before), before[:10]), "")
	wantFault(t, "with the posted rows", check(len(with), with[:10]), "")
	wantFault(t, "too small a count", check(len(before)-1, before[:10]), "chair-search-count")
	wantFault(t, "a hole", check(len(before), append([]int32{before[0]}, before[2:11]...)), "chair-search-rows")

	gone := before[3]
	without := slices.Delete(slices.Clone(before[:11]), 3, 4)
	for range c.all[gone].Stock {
		wantFault(t, "in stock and left out", check(len(before), without), "chair-search-rows")
		c.buying(gone)
	}
	wantFault(t, "being sold and left out", check(len(before)-1, without), "")
	wantFault(t, "being sold and shown", check(len(before), before[:10]), "")
	for range c.all[gone].Stock {
		if c.buyDone(gone, w.now()) {
			t.Error("a chair in stock counts as oversold")
		}
	}
	wantFault(t, "sold during the request", check(len(before), before[:10]), "")
	asked = w.now()
	wantFault(t, "sold before the request", check(len(before), before[:10]), "chair-sold-out")
	wantFault(t, "sold and left out", check(len(before)-1, without), "")
	if !c.buyDone(gone, w.now()) {
		t.Error("a sold-out chair was sold once more unnoticed")
	}
}

func TestStock(t *testing.T) {
	w := testWorld()
	c := w.chairs
	pos := int32(slices.IndexFunc(c.all, func(c Chair) bool { return c.Stock == 2 }))
	missing := textAnswer(404, "", "")
	detail := func() error { _, err := w.checkChair(missing, pos, w.now()); return err }
	wantFault(t, "in stock", detail(), "chair-missing")
	c.buying(pos)
	if !c.buyFailed(pos) {
		t.Error("a refused purchase of a chair in stock was not wrong")
	}
	c.buying(pos) // its answer is lost
	c.buying(pos)
	wantFault(t, "perhaps sold out", detail(), "")
	c.buyDone(pos, w.now())
	c.buying(pos)
	if c.buyFailed(pos) {
		t.Error("a refused purchase was wrong, but the lost one may have been the last")
	}
	if c.soldBefore(pos, w.now()) {
		t.Error("sold out for certain, with one purchase acknowledged of two")
	}
}

func TestLowPriced(t *testing.T) {
	w := testWorld()
	chairs := slices.DeleteFunc(slices.Clone(w.chairs.byPrice), func(p int32) bool { return !w.chairs.there.has(p) })
	estates := slices.DeleteFunc(slices.Clone(w.estates.byRent), func(p int32) bool { return !w.estates.there.has(p) })
	chairLow := func(rows []int32) error {
		return w.checkChairLow(jsonAnswer(t, map[string]any{"chairs": w.shownChairs(rows)}), w.now())
	}
	estateLow := func(rows []int32) error {
		return w.checkEstateLow(jsonAnswer(t, map[string]any{"estates": w.shownEstates(rows)}))
	}
	swapped := func(rows []int32) []int32 {
		rows = slices.Clone(rows)
		rows[0], rows[19] = rows[19], rows[0]
		return rows
	}
	wantFault(t, "right", chairLow(chairs[:20]), "")
	wantFault(t, "without the cheapest", chairLow(chairs[1:21]), "chair-low-rows")
	wantFault(t, "too few", chairLow(chairs[:19]), "chair-low-rows")
	wantFault(t, "another order", chairLow(swapped(chairs[:20])), "chair-low-order")
	wantFault(t, "right", estateLow(estates[:20]), "")
	wantFault(t, "without the cheapest", estateLow(estates[1:21]), "estate-low-rows")
	wantFault(t, "another order", estateLow(swapped(estates[:20])), "estate-low-order")
}

func TestRecommended(t *testing.T) {
	w := testWorld()
	// A chair that some doors are too small for.
	chair := int32(slices.IndexFunc(w.chairs.all, func(c Chair) bool { return passageOf(&c).shorter > 120 }))
	p := passageOf(&w.chairs.all[chair])
	all := slices.Collect(w.estates.which(func(pos int32) bool { return w.estates.fits(pos, p) }))
	check := func(rows []int32) error {
		_, err := w.checkRecommended(jsonAnswer(t, map[string]any{"estates": w.shownEstates(rows)}), chair)
		return err
	}
	right := firstRows(all, 0, 20)
	wantFault(t, "right", check(right), "")
	wantFault(t, "one less", check(right[1:]), "recommended-rows")
	wantFault(t, "another order", check(append(slices.Clone(right[1:]), right[0])), "recommended-order")
	narrow := slices.Collect(w.estates.which(func(pos int32) bool { return !w.estates.fits(pos, p) }))
	wantFault(t, "too small a door", check(append(slices.Clone(right[1:]), narrow[0])), "recommended-match")
}

// TestConditionsAnswer changes one bound of one range.
func TestConditionsAnswer(t *testing.T) {
	w := testWorld()
	check := func(c EstateConditions) error {
		return checkConditions(jsonAnswer(t, c), "estate-condition", w.estateConditions)
	}
	c := estateConditions()
	wantFault(t, "right", check(c), "")
	c.Rent.Ranges[1].Max++
	wantFault(t, "another bound", check(c), "estate-condition")
}

func TestReadIDs(t *testing.T) {
	if got := readIDs(textAnswer(200, "application/json", `{"count":2,"chairs":[{"id":3,"x":[1]},{"id":5}]}`), "chairs"); !slices.Equal(got, []int64{3, 5}) {
		t.Errorf("ids %v", got)
	}
	for _, text := range []string{`{`, `[]`, `{"chairs":3}`, strings.Repeat("[", 100)} {
		if got := readIDs(textAnswer(200, "application/json", text), "chairs"); got != nil {
			t.Errorf("%q: ids %v", text, got)
		}
	}
}
