package attribute_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/attribute"
)

// shop is a site whose routes share a session check. A list and a report have
// loops, over one table in common; an export is slow and rare.
func shop() []route {
	const ms = time.Millisecond
	auth := step{"session", 1, ms / 4}
	return []route{
		{"/", 20, ms, nil},
		{"/list", 8, ms, []step{auth, {"listing", 1, ms}, {"seller", 20, ms / 5}}},
		{"/item", 30, ms, []step{auth, {"item", 1, ms / 3}, {"stock", 2, ms / 3}}},
		{"/search", 5, ms, []step{auth, {"product", 1, 20 * ms}}},
		{"/cart", 6, ms, []step{auth, {"cart", 1, ms}, {"price", 6, ms / 4}}},
		{"/report", 0.8, ms, []step{auth, {"sales", 1, 30 * ms}, {"price", 120, ms / 3}, {"buyer", 60, ms / 3}}},
		{"/export", 0.25, 2 * ms, []step{{"orders", 1, 100 * ms}, {"line", 900, ms}}},
		{"/login", 2, 30 * ms, []step{{"account", 1, ms}}},
	}
}

func scaled(routes []route, by float64) []route {
	for i := range routes {
		routes[i].rate *= by
	}
	return routes
}

// A score is the statement time that was given to the right route, to a wrong
// one, and to none, as shares.
type score struct{ right, wrong, none float64 }

// profilesOf reads the logs of a site as an observer does.
func profilesOf(t *testing.T, s site, w *written) (access, slow *iikanji.Profile) {
	t.Helper()
	of := func(size func(look) int64) *tally.Window {
		out := &tally.Window{From: began, Step: 50 * time.Millisecond, N: s.seconds * 20}
		if s.look > 0 {
			g := new(lines.Growth)
			for _, l := range w.looks {
				g.Note(size(l), l.at, l.at)
			}
			out.Written = g.Written
		}
		return out
	}
	var err error
	access, err = accesslog.Read(t.Context(), []*lines.Input{lines.Bytes("access.log", []byte(w.access.String()))},
		accesslog.Options{Ticks: of(func(l look) int64 { return l.access })})
	if err != nil {
		t.Fatal(err)
	}
	slow, err = slowlog.Read(t.Context(), []*lines.Input{lines.Bytes("slow.log", []byte(w.slow.String()))},
		slowlog.Options{Ticks: of(func(l look) int64 { return l.slow })})
	if err != nil {
		t.Fatal(err)
	}
	return access, slow
}

func seriesOf(rows []iikanji.Row, n int) []attribute.Series {
	var out []attribute.Series
	for _, r := range rows {
		s := attribute.Series{Counts: make([]float64, n), Timed: r.Total > 0}
		if r.Ticks != nil {
			for i, c := range r.Ticks.Counts {
				s.Counts[i] = float64(c) / 1000
			}
		}
		out = append(out, s)
	}
	return out
}

// grade compares the attribution with the truth, and lists the digests.
func grade(t *testing.T, s site) (score, string) {
	t.Helper()
	w := s.simulate()
	access, slow := profilesOf(t, s, w)
	n := s.seconds * 20
	results := attribute.Find(seriesOf(access.Rows, n), seriesOf(slow.Rows, n))
	again := attribute.Find(seriesOf(access.Rows, n), seriesOf(slow.Rows, n))
	if fmt.Sprint(results) != fmt.Sprint(again) {
		t.Error("the same logs have two attributions")
	}
	var out score
	all := 0.0
	var text strings.Builder
	for i, row := range slow.Rows {
		truth := w.truth[row.Query.Tables[0]]
		seconds := 0.0
		for _, d := range truth {
			seconds += d.Seconds()
		}
		all += seconds
		fmt.Fprintf(&text, "%s %.2f s, truth %v, r² %.2f, %.0f ticks\n", row.Query.Tables[0], seconds, truth, results[i].R2, results[i].Ticks)
		given := 0.0
		for _, x := range results[i].Senders {
			key := access.Rows[x.Route].Key
			fmt.Fprintf(&text, "    %+v %s\n", x, key)
			if !x.Certain {
				continue
			}
			part := min(x.Share*seconds, truth[key].Seconds())
			given += x.Share * seconds
			out.right += part
			out.wrong += x.Share*seconds - part
		}
		out.none += seconds - given
	}
	out.right, out.wrong, out.none = out.right/all, out.wrong/all, out.none/all
	return out, text.String()
}

// TestFind measures the share of the statement time that is given to the right
// route. The sites are drawn with fixed seeds, so the figures are the same in each
// run; the limits leave a margin for changes of the readers.
func TestFind(t *testing.T) {
	tier.Slow(t)
	base := site{connections: 10, seconds: 30, timed: true, look: 20 * time.Millisecond, swing: 0.3}
	with := func(change func(*site)) site {
		s := base
		s.routes = shop()
		change(&s)
		return s
	}
	var table []string
	for _, c := range []struct {
		name         string
		site         site
		right, wrong float64
	}{
		{"ten connections", with(func(*site) {}), 0.9, 0.03},
		{"one connection", with(func(s *site) { s.connections = 1; scaled(s.routes, 0.4) }), 0.8, 0.03},
		{"a hundred connections", with(func(s *site) { s.connections = 100; scaled(s.routes, 3) }), 0.7, 0.03},
		{"steady load", with(func(s *site) { s.swing = 0 }), 0.9, 0.03},
		{"other programs", with(func(s *site) { s.stalls = 0.5; s.routes[6].rate = 0.5 }), 0.75, 0.03},
		{"slow requests of 5 s", with(func(s *site) { s.routes[6].think = 4500 * time.Microsecond }), 0.9, 0.03},
		{"ten seconds of load", with(func(s *site) { s.seconds = 10; s.routes[6].rate = 0.8 }), 0.35, 0.03},
		{"a route every ten seconds", with(func(s *site) { s.seconds = 60; s.routes[6].rate = 0.1 }), 0.9, 0.03},
		{"no request times", with(func(s *site) { s.timed = false }), 0.7, 0.03},
		{"no request times, slow", with(func(s *site) { s.timed = false; s.routes[6].think = 4500 * time.Microsecond }), 0.55, 0.03},
		{"no looks", with(func(s *site) { s.look = 0 }), 0.8, 0.03},
		{"no looks, no times", with(func(s *site) { s.look = 0; s.timed = false }), 0.8, 0.03},
	} {
		sum := score{}
		const draws = 2
		worst := 0.0
		for seed := range uint64(draws) {
			c.site.seed = seed + 1
			got, text := grade(t, c.site)
			sum.right, sum.wrong, sum.none = sum.right+got.right/draws, sum.wrong+got.wrong/draws, sum.none+got.none/draws
			if worst = max(worst, got.wrong); testing.Verbose() && (got.right < c.right || got.wrong > c.wrong) {
				t.Logf("%s, seed %d:\n%s", c.name, seed+1, text)
			}
		}
		table = append(table, fmt.Sprintf("%-26s %5.1f %% %5.1f %% %5.1f %%", c.name, 100*sum.right, 100*sum.wrong, 100*sum.none))
		if sum.right < c.right || sum.wrong > c.wrong {
			t.Errorf("%s: %.1f %% of the statement time is given to the right route and %.1f %% to a wrong one, want %.0f and %.0f",
				c.name, 100*sum.right, 100*sum.wrong, 100*c.right, 100*c.wrong)
		}
	}
	t.Logf("statement time given to   right   wrong      none\n%s", strings.Join(table, "\n"))
}

// TestFindNothing checks inputs that contain no answer.
func TestFindNothing(t *testing.T) {
	for name, s := range map[string][]attribute.Series{
		"no ticks":   {{}, {}},
		"no counts":  {{Counts: make([]float64, 100)}, {Counts: make([]float64, 100)}},
		"one burst":  {{Counts: append(make([]float64, 99), 7)}, {Counts: append(make([]float64, 99), 70)}},
		"no overlap": {{Counts: slices.Concat(slices.Repeat([]float64{1}, 50), make([]float64, 50)), Timed: true}, {Counts: slices.Concat(make([]float64, 50), slices.Repeat([]float64{1}, 50))}},
	} {
		for _, r := range attribute.Find(s[:1], s[1:]) {
			if len(r.Senders) > 0 {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	if got := attribute.Find(nil, nil); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
