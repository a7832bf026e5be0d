package isucondition

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// The checks are tested on correct answers made of these types, each broken in one
// way.

// testStart is when the chairs of the tests began to post.
var testStart = T0.Unix()

// testChair has n conditions, one per minute, and cycles through all combinations
// of the state.
func testChair(n int) *chair {
	c := &chair{uuid: "11111111-2222-4333-8444-555555555555", name: "月曜日の椅子", character: 3, owner: &owner{id: "able_abe"}}
	c.id.Store(42)
	for i := range n {
		c.past.add(testStart+int64(i)*60, state(i%16))
	}
	return c
}

// knowAll marks all of a chair's conditions as returned at a time, in ms.
func knowAll(c *chair, ms int64) *chair {
	for i := range c.past.times {
		c.past.sight(i, ms)
	}
	return c
}

type testCondition struct {
	UUID    string `json:"jia_isu_uuid"`
	Name    string `json:"isu_name"`
	TS      int64  `json:"timestamp"`
	Sitting bool   `json:"is_sitting"`
	Cond    string `json:"condition"`
	Level   string `json:"condition_level"`
	Message string `json:"message"`
}

// shown returns the i-th condition of a chair as a correct answer shows it.
func (c *chair) shown(i int) testCondition {
	s := c.past.states[i]
	return testCondition{c.uuid, c.name, unixOf(c.past.times[i]), s.sitting(), s.flags().Condition(), s.level().String(),
		Message(c.character, s.flags())}
}

// answer returns a 200 response with a JSON body.
func answer(t *testing.T, v any) *scenario.Response {
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
func wantFault(t *testing.T, says string, err error, check string) {
	t.Helper()
	var f *scenario.Fault
	switch {
	case check == "" && err != nil:
		t.Errorf("%s: %v", says, err)
	case check != "" && !errors.As(err, &f):
		t.Errorf("%s: no fault, want %s", says, check)
	case check != "" && f.Check != check:
		t.Errorf("%s: fault %v, want %s", says, f, check)
	}
}

// TestTransport checks that every JSON check refuses wrong statuses, types and
// bodies.
func TestTransport(t *testing.T) {
	c := testChair(0)
	checks := map[string]func(res *scenario.Response) error{
		"me":   func(res *scenario.Response) error { return checkMe(res, "able_abe") },
		"isu":  func(res *scenario.Response) error { _, err := checkISU(res, 200, c); return err },
		"list": func(res *scenario.Response) error { return checkList(res, nil, false, nil) },
		"condition": func(res *scenario.Response) error {
			_, err := checkConditions(res, c, conditionQuery{}, 0, nil)
			return err
		},
		"graph": func(res *scenario.Response) error { _, err := checkGraph(res, c, testStart, 0); return err },
		"trend": func(res *scenario.Response) error { _, err := new(trendWatch).checkTrend(res, nil, 0); return err },
	}
	for name, check := range checks {
		for _, bad := range []struct {
			res  *scenario.Response
			kind iikanji.FaultKind
		}{
			{textAnswer(500, "application/json", "[]"), iikanji.FaultStatus},
			{textAnswer(200, "text/plain", "[]"), iikanji.FaultContentType},
			{textAnswer(200, "application/json", "[{"), iikanji.FaultBody},
			{textAnswer(200, "application/json", "<html>"), iikanji.FaultBody},
			{textAnswer(200, "application/json", ""), iikanji.FaultBody},
			{textAnswer(200, "application/json", "[1]"), iikanji.FaultBody},
		} {
			if err := check(bad.res); scenario.KindOf(err) != bad.kind {
				t.Errorf("%s of %d %s %q: %v, want a fault of kind %s", name, bad.res.Status, bad.res.Get("content-type"), bad.res.Body, err, bad.kind)
			}
		}
	}
}

func TestWantError(t *testing.T) {
	for _, c := range []struct {
		res  *scenario.Response
		kind iikanji.FaultKind
	}{
		{textAnswer(404, "text/plain; charset=UTF-8", "not found: isu"), iikanji.FaultUnknown},
		{textAnswer(404, "text/plain", "not found: isu\n"), iikanji.FaultUnknown},
		{textAnswer(200, "text/plain", "not found: isu"), iikanji.FaultStatus},
		{textAnswer(404, "application/json", "not found: isu"), iikanji.FaultContentType},
		{textAnswer(404, "text/plain", "not found"), iikanji.FaultCheck},
	} {
		err := verify.Refusal(c.res, "foreign-isu", 404, textNoISU)
		if got := scenario.KindOf(err); got != c.kind {
			t.Errorf("%d %q: %v, want kind %s", c.res.Status, c.res.Body, err, c.kind)
		}
		if err != nil && !strings.Contains(err.Error(), "foreign-isu") {
			t.Errorf("%v does not name its check", err)
		}
	}
}

func TestCheckMe(t *testing.T) {
	wantFault(t, "right", checkMe(answer(t, map[string]string{"jia_user_id": "able_abe"}), "able_abe"), "")
	wantFault(t, "someone else", checkMe(answer(t, map[string]string{"jia_user_id": "able_aoki"}), "able_abe"), "me-user")
	wantFault(t, "nobody", checkMe(answer(t, map[string]string{}), "able_abe"), "me-user")
}

func TestCheckIcon(t *testing.T) {
	c := testChair(0)
	c.icon = newImage([]byte("icon"))
	right, wrong := textAnswer(200, "", "icon"), textAnswer(200, "", "Icon")
	wantFault(t, "right", checkIcon(right, c, false), "")
	wantFault(t, "wrong", checkIcon(wrong, c, true), "icon-md5")
	wrong.NotModified = true
	wantFault(t, "304 for what was never right", checkIcon(wrong, c, false), "icon-md5")
	right.NotModified = true
	wantFault(t, "304 for what was right", checkIcon(right, c, true), "")
	if scenario.KindOf(checkIcon(textAnswer(404, "", "icon"), c, false)) != iikanji.FaultStatus {
		t.Error("a 404 passed")
	}
}

func TestCheckStatic(t *testing.T) {
	assets := []Asset{newAsset("/", nil, false), newAsset("/assets/a.js", []byte("a"), false),
		newAsset("/assets/b.css", []byte("b"), false), newAsset("/assets/logo.svg", []byte("c"), true)}
	page := `<html><link rel=stylesheet href="/assets/b.css"><script src='/assets/a.js'></script><a href="/">top</a><a href="#x">`
	html := func(s string) *scenario.Response { return textAnswer(200, "text/html; charset=utf-8", s) }
	wantFault(t, "right", checkPage(html(page), assets), "")
	wantFault(t, "relative", checkPage(html(strings.ReplaceAll(page, `"/assets`, `"./assets`)), assets), "")
	wantFault(t, "one missing", checkPage(html(strings.Replace(page, "a.js", "", 1)), assets), "page-assets")
	wantFault(t, "one more", checkPage(html(page+`<img src=/assets/x.png>`), assets), "page-assets")
	wantFault(t, "nothing", checkPage(html(""), assets), "page-assets")
	if scenario.KindOf(checkPage(textAnswer(200, "text/plain", page), assets)) != iikanji.FaultContentType {
		t.Error("a page of type text/plain passed")
	}
	wantFault(t, "asset", verify.File(textAnswer(200, "", "a"), assets[1].Sum, false), "")
	wantFault(t, "another asset", verify.File(textAnswer(200, "", "A"), assets[1].Sum, true), "asset-crc")
}

func TestBeSure(t *testing.T) {
	b := &browser{sure: map[string]bool{}}
	if b.isSure("/x") || b.beSure("/x", nil) != nil || !b.isSure("/x") {
		t.Error("a right answer was not taken for right")
	}
	if b.beSure("/x", jsonread.ErrEnd) != jsonread.ErrEnd || b.isSure("/x") {
		t.Error("after a wrong answer the cache is still taken for right")
	}
}
