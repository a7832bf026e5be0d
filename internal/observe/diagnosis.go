package observe

import (
	"encoding/json"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/diagnose"
)

// A Diagnosis is the findings of an observed run, best first.
type Diagnosis struct {
	Run      *iikanji.Run      `json:"run"`
	Sensors  []Sensor          `json:"sensors"`
	Findings []iikanji.Finding `json:"findings"`
	// Statements are the seconds of the binding resource that all statements
	// took, of which the gains of DB findings are a share; CPU are the seconds
	// of all cores, of which those of others are.
	Statements float64 `json:"statement_seconds"`
	CPU        float64 `json:"cpu_seconds"`
	Binding    string  `json:"binding"` // the resource that the run had too little of, "" for none
	// Databases are the names of the services whose CPU time statements cost.
	Databases []string `json:"-"`
	// Plans by digest, of the heaviest statements.
	Plans map[string]iikanji.Plan `json:"plans,omitempty"`
}

// Orient derives findings from an observation and facts. Data of a red sensor is
// not used at all; a finding BEN103 reports it.
func Orient(ob *Observation, known []iikanji.Fact) (*Diagnosis, error) {
	d := &Diagnosis{Run: ob.Run, Sensors: ob.Sensors, Plans: map[string]iikanji.Plan{}}
	in := diagnose.Input{Run: ob.Run, Target: ob.Target, Facts: known, BlindWhy: map[iikanji.Source]string{}}
	for _, s := range ob.Sensors {
		switch why, red := in.BlindWhy[s.Source]; {
		case s.Green:
		case red: // the sensor of another service
			in.BlindWhy[s.Source] = why + "; " + s.Why()
		default:
			in.Blind = append(in.Blind, s.Source)
			in.BlindWhy[s.Source] = s.Why()
		}
	}
	for _, p := range ob.Profiles {
		if _, red := in.BlindWhy[p.Source]; red {
			continue
		}
		in.Profiles = append(in.Profiles, p)
		if p.Source == iikanji.Slow {
			for _, r := range p.Rows {
				d.Statements += r.Total.Seconds()
			}
		}
	}
	for _, f := range known {
		if f.Topic != iikanji.TopicPlan {
			continue
		}
		var p iikanji.Plan
		if json.Unmarshal([]byte(f.Value), &p) == nil { // a plan is only displayed: the diagnosis is valid without it
			d.Plans[f.Key] = p
		}
	}
	d.Databases = in.Databases()
	d.Statements *= in.StatementWeight()
	var err error
	d.Findings, err = diagnose.All(in)
	d.CPU = ob.Run.Took.Seconds() * float64(max(ob.Run.Place.Cores, 1))
	if b := in.Binding(); b.Resource != "" {
		d.Binding = b.Resource + " (" + b.Who + ")"
	}
	return d, err
}

// Of is the seconds of which a finding's gain is a share.
func (d *Diagnosis) Of(f iikanji.Finding) float64 {
	if len(f.Code) > 2 && f.Code[:2] == "DB" {
		return d.Statements
	}
	return d.CPU
}
