package isuports

import (
	"testing"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

func TestScoreTable(t *testing.T) {
	if len(stepNames) != int(stepStatic)+1 || len(table.Events) != int(scoringSteps) {
		t.Fatalf("%d names of steps, %d events", len(stepNames), len(table.Events))
	}
	for step, want := range map[scenario.Step]struct {
		points float64
		cost   int64
	}{
		stepTenantAdd: {10, 10}, stepPlayersAdd: {10, 10}, stepCompetitionAdd: {10, 10}, stepScore: {10, 10}, stepFinish: {10, 10},
		stepBilling: {10, 1}, stepDisqualify: {1, 10}, stepAdminBilling: {1, 1}, stepPlayers: {1, 1}, stepCompetitions: {1, 1},
		stepPlayer: {1, 1}, stepRanking: {1, 1}, stepPlayerCompetitions: {1, 1},
	} {
		if got := table.Events[step]; got.Points != want.points || cost(step) != want.cost || got.Name != stepNames[step] {
			t.Errorf("%s: %g points, a failure costs %d %%, want %+v", got.Name, got.Points, cost(step), want)
		}
	}
	counts := make([]int64, scoringSteps)
	counts[stepScore], counts[stepRanking] = 10, 205
	if s := table.Score(counts, 11, 0); s.Raw != 305 || s.Deducted != 33 || s.Final != 272 {
		t.Errorf("score %+v, want 305 − 33", s)
	}
}

func TestWeigh(t *testing.T) {
	f := scenario.Wrong(nil, "check", "wrong")
	if err := weigh(f, writeCost); err != f || f.Weight != 10 {
		t.Errorf("%v weighs %d", err, f.Weight)
	}
	if err := weigh(nil, writeCost); err != nil {
		t.Errorf("no error became %v", err)
	}
}
