package contest

import (
	"bytes"
	"fmt"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// A Reopening says how a past round becomes a round of practice.
type Reopening struct {
	ID      string // of the new contest
	Round   string // of the past one; it keeps its id
	Start   time.Time
	Members int // most members of a team that people make themselves; 0 for teams made by staff alone
}

// Reopen is the file of a contest in which a past round is open: without an end, a freeze, a final
// judging and prizes, ranked by the best run. Its problem, hints, budgets, divisions and targets stay
// as they were. An error of the result is an *Error, as of Parse.
func Reopen(file []byte, o Reopening) ([]byte, error) {
	top := map[string]any{}
	if err := toml.Unmarshal(file, &top); err != nil {
		return nil, fmt.Errorf("reading the contest file: %w", err)
	}
	round, err := roundNamed(top, o.Round)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"hours", "until", "freeze", "final", "prizes"} {
		delete(round, key)
	}
	round["kind"], round["start"] = string(Open), o.Start.UTC().Truncate(time.Second)
	rules, _ := round["rules"].(map[string]any)
	if rules == nil {
		rules = map[string]any{}
	}
	delete(rules, "tail")
	rules["standing"] = string(Best)
	round["rules"] = rules
	top["id"], top["rounds"], top["name"] = o.ID, []any{round}, practiceName(top["name"])
	keepProblem(top, round["problem"])
	reregister(top, o)
	var out bytes.Buffer
	if err := toml.NewEncoder(&out).Encode(top); err != nil {
		return nil, fmt.Errorf("writing the contest file: %w", err)
	}
	if _, err := Parse(o.ID+".toml", out.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// roundNamed is the table of a round.
func roundNamed(top map[string]any, id string) (map[string]any, error) {
	rounds, _ := top["rounds"].([]any)
	for _, r := range rounds {
		if r, ok := r.(map[string]any); ok && r["id"] == id {
			return r, nil
		}
	}
	return nil, fmt.Errorf("the contest has no round %q", id)
}

// practiceName is the name of a contest with the word for practice.
func practiceName(name any) any {
	switch name := name.(type) {
	case string:
		return "Practice: " + name
	case map[string]any:
		out := map[string]any{}
		for lang, text := range name {
			if lang == "ja" {
				out[lang] = fmt.Sprintf("%v の練習", text)
				continue
			}
			out[lang] = fmt.Sprintf("Practice: %v", text)
		}
		return out
	}
	return name
}

// keepProblem removes the problems of other rounds.
func keepProblem(top map[string]any, id any) {
	problems, _ := top["problem"].(map[string]any)
	name, _ := id.(string)
	if kept, ok := problems[name]; ok {
		top["problem"] = map[string]any{name: kept}
	}
}

// reregister opens the registration without an end, with the terms of the past one.
func reregister(top map[string]any, o Reopening) {
	was, _ := top["registration"].(map[string]any)
	delete(top, "registration")
	if o.Members < 1 {
		return
	}
	now := map[string]any{"open": o.Start.UTC().Truncate(time.Second), "members": int64(o.Members)}
	if terms, ok := was["terms"]; ok {
		now["terms"] = terms
	}
	top["registration"] = now
}

// Over reports whether a round has ended for all, its final results are known, and its board hides
// nothing any more.
func Over(r *Round, c *Clock, state State, now time.Time) bool {
	switch state {
	case Provisional, Finished, Archived:
		return !c.Frozen(now)
	case Ended:
		return r.Final.Runs == 0 && !c.Frozen(now)
	}
	return false
}
