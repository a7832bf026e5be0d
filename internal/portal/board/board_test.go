package board

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

var start = time.Date(2027, 2, 6, 1, 0, 0, 0, time.UTC)

func at(minute float64) time.Time { return start.Add(time.Duration(minute * float64(time.Minute))) }

// day is a round of 8 hours, frozen for the last hour, with teams a to d and a guest g.
func day(standing contest.Standing) *Data {
	r := &contest.Round{ID: "day", Kind: contest.Live, Start: start, Length: 8 * time.Hour, Freeze: time.Hour,
		Rules: contest.Rules{Standing: standing, Ties: []contest.Tie{contest.TieBest, contest.TieEarlier}, CountsIf: "enqueued", Tail: 20 * time.Minute},
		Prizes: []contest.Prize{{ID: "jump", Kind: "biggest_jump", Of: "ratio"}, {ID: "first", Kind: "first_above", At: 1000}, {ID: "best", Kind: "best_of", Of: "student"},
			{ID: "clean", Kind: "longest_clean"}}}
	d := &Data{Round: r, Clock: contest.NewClock(r)}
	for _, id := range []string{"a", "b", "c", "d", "g"} {
		t := Team{ID: id, Name: strings.ToUpper(id), Division: "general", Ranked: id != "g"}
		if id == "c" || id == "d" {
			t.Division = "student"
		}
		d.Teams = append(d.Teams, t)
	}
	return d
}

// run adds a result; a negative score is a failed run.
func (d *Data) run(team string, minute, score float64) *Data {
	r := Result{Job: fmt.Sprintf("%s%d", team, len(d.Results)), Team: team, Enqueued: at(minute - 2), At: at(minute), Outcome: iikanji.Passed, Score: score}
	if score < 0 {
		r.Outcome, r.Score = iikanji.Failed, 0
	}
	d.Results = append(d.Results, r)
	return d
}

// ranks writes a board as "1a 2b -g".
func ranks(v *View) string {
	var out []string
	for _, r := range v.Rows {
		rank := "-"
		if r.Rank > 0 {
			rank = fmt.Sprint(r.Rank)
		}
		out = append(out, rank+r.Team)
	}
	return strings.Join(out, " ")
}

var staff, public = Reader{Role: Staff}, Reader{Role: Public}

func member(team string) Reader { return Reader{Role: Member, Team: team} }

func TestRanks(t *testing.T) {
	for _, c := range []struct {
		name     string
		standing contest.Standing
		data     func(d *Data)
		want     string
	}{
		{"nothing", contest.Last, func(*Data) {}, "-a -b -c -d -g"},
		{"the last run", contest.Last, func(d *Data) { d.run("a", 10, 500).run("b", 11, 400).run("a", 20, 300) }, "1b 2a -c -d -g"},
		{"the best run", contest.Best, func(d *Data) { d.run("a", 10, 500).run("b", 11, 400).run("a", 20, 300) }, "1a 2b -c -d -g"},
		{"a failed last run is 0", contest.Last, func(d *Data) { d.run("a", 10, 500).run("b", 11, 400).run("a", 20, -1) }, "1b 2a -c -d -g"},
		{"ties by the best", contest.Last, func(d *Data) { d.run("a", 10, 500).run("b", 11, 600).run("b", 12, 500) }, "1b 2a -c -d -g"},
		{"ties by time", contest.Last, func(d *Data) { d.run("b", 10, 500).run("a", 11, 500) }, "1b 2a -c -d -g"},
		{"equal in all", contest.Last, func(d *Data) { d.run("b", 10, 500).run("a", 10, 500).run("c", 9, 400) }, "1a 1b 3c -d -g"},
		{"a guest has no rank", contest.Last, func(d *Data) { d.run("g", 10, 900).run("a", 11, 500) }, "1a -g -b -c -d"},
		{"gone", contest.Last, func(d *Data) {
			d.run("a", 10, 900).run("b", 11, 500)
			d.Teams[0].Gone, d.Teams[0].GoneAt = "disqualified", at(30)
		}, "1b -c -d -g -a"},
		{"after the end", contest.Last, func(d *Data) { d.run("a", 481, 500).run("b", 483, 900) }, "1a -b -c -d -g"},
		{"void", contest.Last, func(d *Data) { d.run("a", 10, 500); d.Results[0].Outcome = iikanji.Void }, "-a -b -c -d -g"},
		{"judged", contest.Last, func(d *Data) {
			d.run("a", 10, 500).run("b", 11, 400)
			d.Judgements = []Judgement{{Job: "b1", At: at(40), Outcome: iikanji.Passed, Score: 600}}
		}, "1b 2a -c -d -g"},
	} {
		d := day(c.standing)
		c.data(d)
		if got := ranks(Of(d, staff, at(600))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRow(t *testing.T) {
	d := day(contest.Last).run("c", 10, 100).run("c", 20, 300).run("a", 21, 305).run("c", 30, 280)
	d.Noise = 0.05
	v := Of(d, public, at(60))
	a, c := v.Rows[0], v.Rows[1]
	if c.Team != "c" || c.Rank != 2 || c.DivisionRank != 1 || c.Best != 300 || c.Last != 280 || c.Runs != 3 || c.Trend != -1 || !slices.Equal(c.Spark, []float64{100, 300, 280}) {
		t.Errorf("row %+v", c)
	}
	if !a.Joined { // ln(305/280) = 0.086 < 1.96 · √2 · 0.05 = 0.139
		t.Error("neighbours within the noise are not joined")
	}
	if got := v.Series("c", "x")[0].Points; len(got) != 3 || got[1].Minute != 20 || got[1].Score != 300 {
		t.Errorf("points %+v", got)
	}
}

func TestFreeze(t *testing.T) {
	d := day(contest.Last).run("a", 100, 500).run("b", 101, 400).run("b", 430, 900).run("c", 440, 50)
	for _, c := range []struct {
		reader Reader
		now    float64
		want   string
		own    int
	}{
		{public, 450, "1a 2b -c -d -g", 0}, {staff, 450, "1b 2a 3c -d -g", 0}, {member("b"), 450, "1a 2b -c -d -g", 1}, {member("c"), 450, "1a 2b -c -d -g", 3},
		{member("a"), 450, "1a 2b -c -d -g", 1}, {public, 419, "1a 2b -c -d -g", 0}, {public, 2000, "1a 2b -c -d -g", 0},
	} {
		v := Of(d, c.reader, at(c.now))
		if got := ranks(v); got != c.want {
			t.Errorf("%v at %v: %s, want %s", c.reader, c.now, got, c.want)
		}
		if c.own > 0 && v.Own.Rank != c.own {
			t.Errorf("%v: own rank %d, want %d", c.reader, v.Own.Rank, c.own)
		}
	}
	if err := d.Clock.Apply(contest.Act{At: at(600), Kind: contest.Reveal, Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	if got := ranks(Of(d, public, at(600))); got != "1b 2a 3c -d -g" {
		t.Errorf("revealed: %s", got)
	}
}

func TestPrizes(t *testing.T) {
	d := day(contest.Last).run("a", 10, 500).run("a", 20, 900).run("b", 21, 1000).run("c", 22, 100).run("c", 30, 250).run("c", 40, -1).run("a", 41, 950)
	got := map[string]string{}
	for _, h := range Of(d, public, at(60)).Prizes() {
		got[h.Prize.ID] = fmt.Sprintf("%s %g", h.Team, h.Value)
	}
	want := map[string]string{"jump": "c 2.5", "first": "b 1000", "best": "c -1", "clean": "a 3"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("prizes %v, want %v", got, want)
	}
	var feed []string
	for _, i := range Of(d, public, at(60)).Feed(10) {
		feed = append(feed, i.Team+" "+i.What)
	}
	if strings.Join(feed, ",") != "a best,c best,c first,b lead,a lead,a lead" {
		t.Errorf("feed %q", feed)
	}
}

// shown is everything that a reader sees of others, as bytes. Its own row is left out.
func shown(t interface{ Fatal(...any) }, d *Data, r Reader, now time.Time) string {
	v := Of(d, r, now)
	others := slices.DeleteFunc([]string{"a", "b", "c", "d", "g"}, func(id string) bool { return r.Role == Member && id == r.Team })
	b, err := json.Marshal([]any{v.Rows, v.Runs, v.Frozen, v.FrozenAt, v.Series(others...), v.Feed(50), v.Prizes(), v.Ghosts()})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// history draws results of a team within some minutes.
func history(t *rapid.T, d *Data, from, to int, teams []string) {
	for range rapid.IntRange(0, 12).Draw(t, "runs") {
		minute := rapid.IntRange(from, to).Draw(t, "minute")
		d.run(rapid.SampledFrom(teams).Draw(t, "team"), float64(minute), float64(rapid.IntRange(-100, 1000).Draw(t, "score")))
	}
	slices.SortStableFunc(d.Results, func(a, b Result) int { return a.At.Compare(b.At) })
}

// TestNonInterference: two contests that are equal until the freeze look the same to everyone
// but staff until the reveal, whatever happens; and a team's own results change only its own row.
func TestNonInterference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		standing := rapid.SampledFrom([]contest.Standing{contest.Last, contest.Best}).Draw(t, "standing")
		teams := []string{"a", "b", "c", "d", "g"}
		one := day(standing)
		history(t, one, 1, 419, teams)
		two := day(standing)
		two.Results = slices.Clone(one.Results)
		own := rapid.SampledFrom(teams).Draw(t, "own")
		others := slices.DeleteFunc(slices.Clone(teams), func(id string) bool { return id == own })
		history(t, one, 420, 490, others)
		history(t, two, 420, 490, others)
		for _, d := range []*Data{one, two} {
			for _, r := range d.Results { // corrections while the board is frozen are hidden too
				if rapid.Bool().Draw(t, "judged") {
					d.Judgements = append(d.Judgements, Judgement{Job: r.Job, At: at(460), Outcome: iikanji.Passed, Score: 7})
				}
			}
			d.Judgements = slices.DeleteFunc(d.Judgements, func(j Judgement) bool { return strings.HasPrefix(j.Job, own) })
		}
		now := at(float64(rapid.IntRange(1, 600).Draw(t, "now")))
		for _, r := range []Reader{public, member(own)} {
			if a, b := shown(t, one, r, now), shown(t, two, r, now); a != b {
				t.Fatalf("%v sees a difference at %v:\n%s\n%s", r, now.Sub(start), a, b)
			}
		}
		v, w := Of(one, member(own), now), Of(two, member(own), now)
		if !reflect.DeepEqual(v.Own, w.Own) {
			t.Fatalf("the own row shows what is hidden: %+v %+v", v.Own, w.Own)
		}
		if a, b := shown(t, one, public, now), shown(t, one, member("none"), now); a != b {
			t.Fatal("the public and a team that does not play see different boards")
		}
	})
}

// TestInterferenceIsSeen: the test above can fail: staff sees the difference.
func TestInterferenceIsSeen(t *testing.T) {
	one, two := day(contest.Last).run("a", 430, 500), day(contest.Last)
	if shown(t, one, staff, at(450)) == shown(t, two, staff, at(450)) || shown(t, one, public, at(450)) != shown(t, two, public, at(450)) {
		t.Error("the comparison sees nothing, or too much")
	}
}

// TestViewIsNaive: ranks are 1 + the number of better teams, by an independent count.
func TestViewIsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := day(contest.Best)
		history(t, d, 3, 470, []string{"a", "b", "c", "d", "g"})
		best := map[string]float64{}
		for _, r := range d.Results {
			if _, any := best[r.Team]; !any || r.Score > best[r.Team] {
				best[r.Team] = r.Score
			}
		}
		for _, row := range Of(d, staff, at(480)).Rows {
			if row.Rank == 0 {
				continue
			}
			if row.Standing != best[row.Team] {
				t.Fatalf("standing %v of %s, want %v", row.Standing, row.Team, best[row.Team])
			}
			better := 0
			for team, score := range best {
				if team != "g" && score > row.Standing {
					better++
				}
			}
			if row.Rank < better+1 {
				t.Fatalf("rank %d of %s with %d better teams", row.Rank, row.Team, better)
			}
		}
	})
}
