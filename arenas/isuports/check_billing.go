package isuports

import (
	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A report is the billing of a competition.
type report struct {
	competition, title string
	players, visitors  int64
	playerYen          int64
	visitorYen         int64
	yen                int64
}

// reportOf returns the report of a finished competition.
func reportOf(c *competition, players, visitors int) report {
	r := report{competition: c.id, title: c.title, players: int64(players), visitors: int64(visitors)}
	r.playerYen, r.visitorYen = playerYen*r.players, visitorYen*r.visitors
	r.yen = r.playerYen + r.visitorYen
	return r
}

func readReports(res *scenario.Response) (reports []report, err error) {
	err = readData(res, func(r *jsonread.Reader, name []byte) {
		if string(name) == "reports" {
			r.Array(func() { reports = append(reports, readReport(r)) })
		} else {
			r.Skip()
		}
	})
	return reports, err
}

func readReport(r *jsonread.Reader) (p report) {
	r.Object(func(name []byte) {
		switch string(name) {
		case "competition_id":
			p.competition = string(r.Str())
		case "competition_title":
			p.title = string(r.Str())
		case "player_count":
			p.players = r.Int()
		case "visitor_count":
			p.visitors = r.Int()
		case "billing_player_yen":
			p.playerYen = r.Int()
		case "billing_visitor_yen":
			p.visitorYen = r.Int()
		case "billing_yen":
			p.yen = r.Int()
		default:
			r.Skip()
		}
	})
	return p
}

// checkReports checks that every competition has one report, and that each
// report's yen follow from its counts.
func checkReports(res *scenario.Response, reports []report, known map[string]bool) error {
	seen := make(map[string]bool, len(reports))
	for _, r := range reports {
		if seen[r.competition] {
			return scenario.Wrong(res, "billing-competitions", "competition %.40q is billed twice", r.competition)
		}
		seen[r.competition] = true
		if r.playerYen != playerYen*r.players || r.visitorYen != visitorYen*r.visitors || r.yen != r.playerYen+r.visitorYen {
			return scenario.Wrong(res, "billing-yen", "%d players and %d visitors are billed %d + %d = %d yen", r.players, r.visitors,
				r.playerYen, r.visitorYen, r.yen)
		}
	}
	for id := range known {
		if !seen[id] {
			return scenario.Wrong(res, "billing-competitions", "competition %s is not billed", id)
		}
	}
	return nil
}

// checkReport checks the report of a competition whose counts are known.
func checkReport(res *scenario.Response, got, want report) error {
	if got != want {
		return scenario.Wrong(res, "billing-report", "competition %s: %+v, want %+v", want.competition, got, want)
	}
	return nil
}

// A billed is a tenant on a page of the admin's billing.
type billed struct {
	id            string
	name, display string
	yen           int64
}

func readBilled(r *jsonread.Reader) (t billed) {
	r.Object(func(name []byte) {
		switch string(name) {
		case "id":
			t.id = string(r.Str())
		case "name":
			t.name = string(r.Str())
		case "display_name":
			t.display = string(r.Str())
		case "billing":
			t.yen = r.Int()
		default:
			r.Skip()
		}
	})
	return t
}

// readBillingPage reads a page of the admin's billing.
func readBillingPage(res *scenario.Response) (tenants []billed, err error) {
	err = readData(res, func(r *jsonread.Reader, name []byte) {
		if string(name) == "tenants" {
			r.Array(func() { tenants = append(tenants, readBilled(r)) })
		} else {
			r.Skip()
		}
	})
	return tenants, err
}
