package isucondition_test

import (
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
)

// The routes; the names are the benchmarker's step names.
const (
	onMe        = "GET /api/user/me"
	onList      = "GET /api/isu"
	onISU       = "GET /api/isu/:uuid"
	onIcon      = "GET /api/isu/:uuid/icon"
	onGraph     = "GET /api/isu/:uuid/graph"
	onCondition = "GET /api/condition/:uuid"
	onTrend     = "GET /api/trend"
	onRegister  = "POST /api/isu"
)

// by and on make the patterns for the faults that must be reported.
func by(checks ...string) (want []arenatest.Caught) {
	for _, c := range checks {
		want = append(want, arenatest.By(c))
	}
	return want
}

func on(kind iikanji.FaultKind, step string) []arenatest.Caught {
	return []arenatest.Caught{arenatest.On(kind, step)}
}

// ease is the most obvious first optimization.
var ease = []arenatest.Edit{{File: "sql/0_Schema.sql", Old: "`message` varchar(255) NOT NULL,",
	New: "`message` varchar(255) NOT NULL, KEY (`jia_isu_uuid`, `timestamp`),"}}

// goEase is ease for the app in Go, which also prepares no statements: one message to the
// database and back instead of three.
var goEase = append(slices.Clone(ease), arenatest.Interpolate())

// faults lists all planted faults.
var faults = slices.Concat(checkFaults, readFaults, writeFaults, loadFaults, appFaults)

// appFaults break the app's source, where a proxy lacks the necessary data. "go/"
// is the folder of the app's source.
var appFaults = []arenatest.Fault{
	{Name: "app: unregistered ISU accepted", Want: by("unregistered-accepted"), Edits: []arenatest.Edit{
		{File: "go/condition.go", Old: "dropProbability = 0.9", New: "dropProbability = 0.0"},
		{File: "go/condition.go", Old: "if count == 0 {", New: "if count < 0 {"},
	}},
	{Name: "app: end_time inclusive", Want: by("condition-range"), Edits: []arenatest.Edit{
		{File: "go/condition.go", Old: "`timestamp` < ? ORDER BY", New: "`timestamp` <= ? ORDER BY"},
	}},
	{Name: "app: malformed post stored", UnderLoad: true, Want: by("condition-unknown", "list-unknown", "graph-unknown", "trend-unknown"),
		// The app also fails on conditions that it should not have stored.
		Also: append(by("condition-altered", "list-altered"), arenatest.Caught{Kind: iikanji.FaultStatus}), Edits: []arenatest.Edit{
			{File: "go/condition.go", Old: "dropProbability = 0.9", New: "dropProbability = 0.2"},
			{File: "go/condition.go", Old: "if !isConditionFormat(r.Condition) {", New: "if r.Timestamp < 0 {"},
		}},
	{Name: "app: trend of the oldest condition", Want: by("trend-stale"), Edits: []arenatest.Edit{
		{File: "go/trend.go", Old: "conditions[0]", New: "conditions[len(conditions)-1]"},
	}},
	{Name: "app: session of a user who is gone", Want: by("session-stale"), Edits: []arenatest.Edit{
		{File: "go/auth.go", Old: "if count == 0 {", New: "if count < 0 {"},
	}},
}

// nodeFaults are the same in the source of the app in JavaScript.
var nodeFaults = []arenatest.Fault{
	{Name: "app: unregistered ISU accepted", Want: by("unregistered-accepted"), Edits: []arenatest.Edit{
		{File: "node/condition.js", Old: "dropProbability = 0.9", New: "dropProbability = 0.0"},
		{File: "node/condition.js", Old: "if (row.count === 0) {", New: "if (row.count < 0) {"},
	}},
	{Name: "app: end_time inclusive", Want: by("condition-range"), Edits: []arenatest.Edit{
		{File: "node/condition.js", Old: "`timestamp` < ? ORDER BY", New: "`timestamp` <= ? ORDER BY"},
	}},
	{Name: "app: trend of the oldest condition", Want: by("trend-stale"), Edits: []arenatest.Edit{
		{File: "node/trend.js", Old: "conditions[0]", New: "conditions[conditions.length - 1]"},
	}},
	{Name: "app: session of a user who is gone", Want: by("session-stale"), Edits: []arenatest.Edit{
		{File: "node/auth.js", Old: "row.count > 0", New: "row.count >= 0"},
	}},
}
