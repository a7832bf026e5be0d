// Package diagnose makes findings of an observation: it hands its profiles, its facts and
// the levers to the rules. It is the step between observe, which sees a run, and change,
// which plans remedies.
package diagnose

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/all"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// A Diagnosis is the findings of an observed run, best first.
type Diagnosis struct {
	Run      *iikanji.Run      `json:"run"`
	Sensors  []observe.Sensor  `json:"sensors"`
	Findings []iikanji.Finding `json:"findings"`
	// Statements are the seconds of the binding resource that all statements took,
	// and their waits for lock files. The gains of DB findings are shares of it.
	// CPU are the seconds of all cores. The gains of other findings are shares of it.
	Statements float64  `json:"statement_seconds"`
	CPU        float64  `json:"cpu_seconds"`
	Binding    string   `json:"binding"` // the resource that the run had too little of, "" for none
	Databases  []string `json:"-"`       // names of all databases
	// Executors are the services whose CPU time statements cost: the database servers,
	// and the apps where a database is a library in them.
	Executors []string `json:"-"`
	// Target and Profiles are those of the observation, without what red sensors saw.
	Target   iikanji.Target    `json:"-"`
	Profiles []iikanji.Profile `json:"-"`
	// Unexplained is the time that no finding names, the largest statements first.
	Unexplained []Unexplained `json:"unexplained,omitempty"`
	// Plans of the heaviest statements.
	QueryPlans map[QueryPlanKey]catalog.QueryPlan `json:"plans,omitempty"`
}

// A QueryPlanKey is a statement of one database. The digest ends in
// fact.TypicalSuffix for the query plan of a median example.
type QueryPlanKey struct{ Service, Schema, Digest string }

// MarshalText joins the parts with "/".
func (k QueryPlanKey) MarshalText() ([]byte, error) {
	return []byte(k.Service + "/" + k.Schema + "/" + k.Digest), nil
}

// UnmarshalText reads what MarshalText wrote. A schema may contain "/".
func (k *QueryPlanKey) UnmarshalText(b []byte) error {
	service, rest, ok := strings.Cut(string(b), "/")
	i := strings.LastIndexByte(rest, '/')
	if !ok || i < 0 {
		return fmt.Errorf("%.100q is not SERVICE/SCHEMA/DIGEST", b)
	}
	k.Service, k.Schema, k.Digest = service, rest[:i], rest[i+1:]
	return nil
}

// QueryPlansByDigest are the query plans under the digests as findings name them: with " of "
// and the service if the target has several databases.
func (d *Diagnosis) QueryPlansByDigest() map[string]catalog.QueryPlan {
	out := map[string]catalog.QueryPlan{}
	for k, p := range d.QueryPlans {
		digest, typical := strings.CutSuffix(k.Digest, fact.TypicalSuffix)
		if len(d.Databases) > 1 {
			digest += " of " + k.Service
		}
		if typical {
			digest += fact.TypicalSuffix
		}
		out[digest] = p
	}
	return out
}

// New derives findings from an observation and facts. What a red sensor saw is
// not used at all; a finding BEN103 reports the sensor. A sensor that is red for
// one service leaves those of other services as they are.
func New(ob *observe.Observation, known []iikanji.Fact) (*Diagnosis, error) {
	d := &Diagnosis{Run: ob.Run, Sensors: ob.Sensors, Target: ob.Target}
	in := cause.Input{Run: ob.Run, Target: ob.Target, Facts: known, Levers: Levers(), BlindWhy: map[iikanji.Source]string{}}
	addBlind(&in, ob.Sensors)
	for _, p := range ob.Profiles {
		if !in.Seen(p) {
			continue
		}
		in.Profiles = append(in.Profiles, p)
		if p.Source == iikanji.Slow {
			for _, r := range p.Rows {
				d.Statements += r.Total.Seconds()
			}
		}
	}
	d.Databases, d.Executors = in.Databases(), in.StatementServices()
	d.QueryPlans, d.Profiles = queryPlansOf(known, in.Profiles), in.Profiles
	d.Statements = d.Statements * in.StatementWeight()
	var err error
	d.Findings, err = cause.Find(in, all.Rules())
	d.CPU = ob.Run.Took.Seconds() * float64(max(ob.Run.Place.Cores, 1))
	if b := in.Binding(); b.Resource != "" {
		d.Binding = b.String()
	}
	d.Unexplained = d.unexplained(in.Profiles)
	return d, err
}

// addBlind adds the red sensors. A source is blind as a whole if no sensor of it is
// green.
func addBlind(in *cause.Input, sensors []observe.Sensor) {
	green := map[iikanji.Source]bool{}
	for _, s := range sensors {
		green[s.Source] = green[s.Source] || s.Green
	}
	for _, s := range sensors {
		switch why, there := in.BlindWhy[s.Source]; {
		case s.Green:
		case green[s.Source]:
			target := s.Target
			if s.Source == iikanji.Host { // the sensor of this machine names no host
				target = cmp.Or(target, cause.ThisMachine)
			}
			in.BlindAt = append(in.BlindAt, cause.Blindness{Source: s.Source, Target: target, Why: s.Why()})
		case there:
			in.BlindWhy[s.Source] = why + "; " + s.Why()
		default:
			in.Blind = append(in.Blind, s.Source)
			in.BlindWhy[s.Source] = s.Why()
		}
	}
}

// queryPlansOf are the query plans among the facts. A query plan is only displayed: the diagnosis is
// valid without one that cannot be read.
func queryPlansOf(known []iikanji.Fact, profiles []iikanji.Profile) map[QueryPlanKey]catalog.QueryPlan {
	schemas := map[[2]string]string{} // by service and digest
	for _, p := range profiles {
		for _, r := range p.Rows {
			if p.Source == iikanji.Slow && r.Query != nil {
				schemas[[2]string{p.Target, r.Query.Digest}] = r.Query.DB
			}
		}
	}
	out := map[QueryPlanKey]catalog.QueryPlan{}
	for f, p := range fact.TopicPlan.In(known) {
		digest := strings.TrimSuffix(f.Key, fact.TypicalSuffix)
		out[QueryPlanKey{f.Target, schemas[[2]string{f.Target, digest}], f.Key}] = p
	}
	return out
}

// Of returns the seconds that a finding's gain is a share of.
func (d *Diagnosis) Of(f iikanji.Finding) float64 {
	if f.Of == iikanji.OfStatements {
		return d.Statements
	}
	return d.CPU
}
