package people

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// TestDraw: each person is in one team, sizes differ by one at most and are within the limit,
// no team is better than another by more than one person's span of levels, and a seed decides.
func TestDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var people []api.Seeker
		for i, level := range rapid.SliceOfN(rapid.IntRange(1, maxLevel), 0, 60).Draw(t, "levels") {
			people = append(people, api.Seeker{Account: fmt.Sprint(i), Level: level})
		}
		size, seed := rapid.IntRange(1, 5).Draw(t, "size"), rapid.Uint64().Draw(t, "seed")
		teams := draw(people, size, seed)
		seen, least, most := map[string]bool{}, len(people), 0
		worst, best := 0, 0
		for i, team := range teams {
			sum := 0
			for _, p := range team {
				if seen[p.Account] {
					t.Fatalf("%s is in two teams", p.Account)
				}
				seen[p.Account] = true
				sum += p.Level
			}
			least, most = min(least, len(team)), max(most, len(team))
			if i == 0 || sum < worst {
				worst = sum
			}
			best = max(best, sum)
		}
		if len(seen) != len(people) || most > size || len(people) > 0 && most-least > 1 {
			t.Fatalf("%d of %d people in teams of %d to %d, at most %d", len(seen), len(people), least, most, size)
		}
		if len(people)%max(1, len(teams)) == 0 && best-worst > maxLevel {
			t.Fatalf("the sums of levels are %d to %d", worst, best)
		}
		if !reflect.DeepEqual(teams, draw(people, size, seed)) {
			t.Fatal("the same seed gives other teams")
		}
	})
}
