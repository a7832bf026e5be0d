package isuports

import (
	"encoding/json"
	"testing"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// FuzzAnswers reads hostile answers. What is accepted must be a JSON object.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"status":true,"data":{"competition":{"id":"a","title":"t","is_finished":false},"ranks":[{"rank":1,"score":2,"player_id":"p","player_display_name":"n"}]}}`))
	f.Add([]byte(`{"status":true,"data":{"players":[{"id":"p","display_name":"n","is_disqualified":true}],"scores":[{"competition_title":"t","score":1}]}}`))
	f.Add([]byte(`{"status":true,"data":{"reports":[{"competition_id":"a","billing_yen":10}],"tenants":[{"id":"1","billing":7}],"me":null}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, read := range map[string]func(res *scenario.Response) error{
			"players":      func(res *scenario.Response) error { _, err := readPlayers(res); return err },
			"competitions": func(res *scenario.Response) error { _, err := readCompetitions(res); return err },
			"detail":       func(res *scenario.Response) error { _, err := readDetail(res); return err },
			"reports":      func(res *scenario.Response) error { _, err := readReports(res); return err },
			"tenants":      func(res *scenario.Response) error { _, err := readBillingPage(res); return err },
			"identity":     func(res *scenario.Response) error { _, err := readIdentity(res); return err },
			"ranking": func(res *scenario.Response) error {
				p, err := readRanking(res)
				if err == nil {
					err = checkRanks(res, p.ranks, 0)
				}
				return err
			},
		} {
			res := &scenario.Response{Method: "GET", Path: "/", Status: 200, Body: body, Fields: []scenario.HeaderField{
				{Name: []byte("content-type"), Value: []byte("application/json")}, {Name: []byte("cache-control"), Value: []byte("private")}}}
			if err := read(res); err == nil && !json.Valid(body) {
				t.Errorf("%s: accepted %q", name, body)
			}
		}
	})
}
