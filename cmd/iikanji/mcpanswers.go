package main

import (
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// Answers of the tools: what a model needs to decide, without the ops and
// profiles that the commands' JSON has.
type (
	observeAnswer struct {
		Run      int          `json:"run"`
		Score    float64      `json:"score"`
		Outcome  string       `json:"outcome"`
		Reasons  []string     `json:"reasons,omitempty"`
		Binding  string       `json:"binding,omitempty" jsonschema:"the resource that the run had too little of"`
		Sensors  []sensorView `json:"sensors"`
		Findings int          `json:"findings"`
	}
	sensorView struct {
		Name  string `json:"name"`
		Green bool   `json:"green"`
		Why   string `json:"why,omitempty"`
	}
	diagnoseAnswer struct {
		Run      int           `json:"run"`
		Binding  string        `json:"binding,omitempty"`
		Findings []findingView `json:"findings"`
	}
	findingView struct {
		Code     string       `json:"code"`
		Where    string       `json:"where"`
		Claim    string       `json:"claim"`
		Gain     [2]float64   `json:"gain_seconds" jsonschema:"seconds of a run that a cure could save: from, to"`
		Evidence []string     `json:"evidence"`
		Remedies []remedyView `json:"remedies"`
	}
	remedyView struct {
		Ref  string            `json:"ref" jsonschema:"the name of the remedy for plan, apply and judge"`
		Kind string            `json:"kind"`
		Says string            `json:"says"`
		Args map[string]string `json:"args,omitempty"`
	}
	planAnswer struct {
		Plans []planView `json:"plans"`
	}
	planView struct {
		Change    int      `json:"change,omitempty" jsonschema:"number of the change, once it is applied"`
		Ref       string   `json:"ref,omitempty"`
		Kind      string   `json:"kind"`
		Says      string   `json:"says"`
		Risk      string   `json:"risk,omitempty"`
		Weakens   []string `json:"weakens,omitempty"`
		Forbidden []string `json:"forbidden,omitempty" jsonschema:"promises that the policy does not allow to weaken: the change cannot be applied"`
		Doubt     string   `json:"doubt,omitempty"`
		Diff      string   `json:"diff,omitempty"`
		Why       string   `json:"why,omitempty" jsonschema:"why there is no plan"`
	}
	judgeAnswer struct {
		Says    string     `json:"says"`
		Result  string     `json:"result" jsonschema:"keep: in force; anything else: undone or not tried"`
		Reason  string     `json:"reason,omitempty"`
		Effect  [3]float64 `json:"effect_percent" jsonschema:"lowest, middle and highest change of the score in percent"`
		Why     string     `json:"why"`
		Changes []int      `json:"changes,omitempty"`
		Runs    int        `json:"runs"`
	}
	revertAnswer struct {
		Reverted []struct {
			ID    int    `json:"id"`
			Says  string `json:"says"`
			Stage string `json:"stage"`
		} `json:"reverted"`
	}
	historyAnswer struct {
		Changes []recordView `json:"changes"`
	}
	recordView struct {
		ID      int    `json:"id"`
		Kind    string `json:"kind"`
		Says    string `json:"says"`
		Stage   string `json:"stage"`
		Verdict string `json:"verdict,omitempty"`
		Effect  string `json:"effect,omitempty"`
		Why     string `json:"why,omitempty"`
		Diff    string `json:"diff,omitempty"`
	}
)

func observeAnswerOf(d *diagnose.Diagnosis) observeAnswer {
	a := observeAnswer{Run: int(d.Run.ID), Score: d.Run.Score, Outcome: d.Run.Outcome.String(), Reasons: d.Run.Reasons,
		Binding: d.Binding, Sensors: []sensorView{}, Findings: len(d.Findings)}
	for _, s := range d.Sensors {
		a.Sensors = append(a.Sensors, sensorView{Name: s.Name, Green: s.Green, Why: s.Why()})
	}
	return a
}

// diagnosed lists the findings with a code; all for "".
func diagnoseAnswerOf(d *diagnose.Diagnosis, code string) diagnoseAnswer {
	a := diagnoseAnswer{Run: int(d.Run.ID), Binding: d.Binding, Findings: []findingView{}}
	number := map[iikanji.Code]int{}
	for _, f := range d.Findings {
		v := findingView{Code: string(f.Code), Where: f.Where, Claim: f.Claim, Gain: [2]float64{f.Gain.Lo, f.Gain.Hi}, Evidence: []string{}, Remedies: []remedyView{}}
		for _, e := range f.Evidence {
			v.Evidence = append(v.Evidence, e.Source+": "+e.Text)
		}
		for _, r := range f.Remedies {
			number[f.Code]++
			v.Remedies = append(v.Remedies, remedyView{Ref: refOf(f.Code, number[f.Code]), Kind: r.Kind, Says: r.Says, Args: r.Args})
		}
		if code == "" || strings.EqualFold(code, v.Code) {
			a.Findings = append(a.Findings, v)
		}
	}
	return a
}

func planAnswerOf(list *remedyList) planAnswer {
	a := planAnswer{Plans: []planView{}}
	for i := range list.Plans {
		a.Plans = append(a.Plans, planViewOf(&list.Plans[i]))
	}
	return a
}

func planViewOf(p *plannedRemedy) planView {
	v := planView{Ref: p.Ref, Kind: p.Remedy.Kind, Says: p.Remedy.Says, Doubt: p.Doubt, Diff: p.Diff, Why: p.Why}
	if c := p.Change; c != nil {
		v.Change, v.Says, v.Risk, v.Weakens = int(c.ID), c.Says, riskSays[c.Risk], promiseNames(c.Weakens)
	}
	v.Forbidden = promiseNames(p.Forbidden)
	return v
}

func promiseNames(promises []iikanji.Promise) (all []string) {
	for _, p := range promises {
		all = append(all, p.String())
	}
	return all
}

func judgeAnswerOf(a search.Attempt) judgeAnswer {
	out := judgeAnswer{Says: a.Says, Result: a.Result(), Why: a.Skipped, Runs: a.Runs}
	if a.Skipped != "" {
		return out
	}
	v := a.Verdict
	out.Reason, out.Why = v.Reason.String(), v.Why
	for _, id := range a.Changes {
		out.Changes = append(out.Changes, int(id))
	}
	if v.Effect.Level > 0 {
		out.Effect = [3]float64{inPercent(v.Effect.Lo), inPercent(v.Effect.Mid), inPercent(v.Effect.Hi)}
	}
	return out
}

// historyOf lists all changes, or one with its diff.
func historyAnswerOf(h *history.History, only iikanji.ChangeID) (historyAnswer, error) {
	a := historyAnswer{Changes: []recordView{}}
	changes, err := h.Changes()
	if only != 0 {
		var one *iikanji.Change
		one, err = h.LoadChange(only)
		changes = []*iikanji.Change{one}
	}
	if err != nil {
		return a, err
	}
	for _, c := range changes {
		p, err := recordOf(h, c)
		if err != nil {
			return a, err
		}
		cells := p.cells()
		v := recordView{ID: int(c.ID), Kind: c.Kind, Says: c.Says, Stage: c.Stage.String(), Why: p.Reason}
		if p.Verdict != nil {
			v.Verdict, v.Effect = p.Verdict.Call.String(), cells[3]
		}
		if only != 0 {
			if v.Diff, err = h.Diff(c.ID); err != nil {
				return a, err
			}
		}
		a.Changes = append(a.Changes, v)
	}
	return a, nil
}
