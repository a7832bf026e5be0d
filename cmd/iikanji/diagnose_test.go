package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/grading"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// TestDiagnoseUnderLoad observes a short run of a real arena. The best-known cause must
// be among the first findings; then the saved run is diagnosed again.
func TestDiagnoseUnderLoad(t *testing.T) {
	tier.Slow(t)
	var dir string
	var doc diagnosed
	for i := range 8 { // on a busy machine a sensor may rightly be red, and the checks may time out
		dir = preparedFolder(t, "isucondition")
		var load []string
		if i >= 3 { // a starved machine loses requests of the usual load
			load = []string{"--clock", "10000"}
		}
		var ok bool
		if doc, ok = diagnoseOnce(t, dir, load...); !ok {
			continue
		}
		if at := indexOfConditions(doc.Findings); at >= 0 && at < 5 && !slices.ContainsFunc(doc.Sensors, func(s observe.Sensor) bool { return !s.Green }) {
			break
		}
	}
	for _, s := range doc.Sensors {
		if !s.Green {
			t.Errorf("%s is red: %s", s.Name, s.Why())
		}
	}
	// The order of findings depends on seconds, which vary in a short run on a busy
	// machine. So the finding must only be among the first five.
	at := indexOfConditions(doc.Findings)
	if at < 0 || at >= 5 {
		t.Fatalf("the missing index of isu_condition is finding %d: %+v", at+1, doc.Findings)
	}
	graded := at + 1 // the answers list no places in the source
	for _, f := range doc.Findings[:at] {
		if strings.HasPrefix(string(f.Code), "APP2") {
			graded--
		}
	}
	if doc.Score.Answers[0].Found != graded || doc.Score.At5 < 1 || doc.Score.All < doc.Score.At5 || len(doc.QueryPlans) == 0 {
		t.Errorf("%d plans, score %+v", len(doc.QueryPlans), doc.Score)
	}
	for _, f := range []string{"run.json", "access.json", "slow.json", "facts.json", "sensors.json", "host.tsv"} {
		if info, err := os.Stat(filepath.Join(dir, "history", "runs", "0001", f)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	recalled(t, dir, doc.Findings[at].Where, at+1)
}

// diagnosed is the document of diagnose --score --json.
type diagnosed struct {
	diagnose.Diagnosis
	Score grading.Score `json:"score"`
}

// indexOfConditions is the place of the best-known cause among the findings; -1 if it is not there.
func indexOfConditions(findings []iikanji.Finding) int {
	return slices.IndexFunc(findings, func(f iikanji.Finding) bool {
		return f.Code == "DB101" && strings.Contains(f.Where, "isu_condition (jia_isu_uuid")
	})
}

// diagnoseOnce observes one run. It is not ok if the command fails.
func diagnoseOnce(t *testing.T, dir string, load ...string) (doc diagnosed, ok bool) {
	t.Helper()
	var errs lockedBuffer
	status, out := command(t.Context(), &errs, append([]string{"diagnose", "isucondition", "--dir", dir, "--load", "6s", "--score", "--json"}, load...)...)
	if status != exitDone {
		t.Logf("status %d\n%s\n%s", status, out, errs.String())
		return doc, false
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("--json is not a document: %v\n%s", err, out)
	}
	// A busy machine is a finding without a number: the text has it as a doubt.
	doc.Findings = slices.DeleteFunc(doc.Findings, func(f iikanji.Finding) bool {
		return strings.HasPrefix(string(f.Code), "BEN") || f.Code == "OS104"
	})
	return doc, true
}

// recalled diagnoses the saved run again, in the text formats.
func recalled(t *testing.T, dir, where string, at int) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"#  code", fmt.Sprintf("%d  DB101", at), "→ add index (jia_isu_uuid", "--run 1 --explain "}},
		{[]string{"--all"}, []string{"sensors green: access log", "kept in "}},
		{[]string{"--format", "markdown", "--score"}, []string{"## isucondition  run 1", fmt.Sprintf("| %d | DB101 |", at), where, "known causes"}},
		{[]string{"--explain", "db101"}, []string{fmt.Sprintf("%d. DB101", at), "evidence:", "plan of", "ALL", "remedies, best first:"}},
	} {
		var errs lockedBuffer
		status, out := command(t.Context(), &errs, append([]string{"diagnose", "isucondition", "--dir", dir, "--run", "1"}, c.args...)...)
		for _, want := range c.want {
			if status != exitDone || !strings.Contains(out, want) {
				t.Errorf("%v: status %d, no %q in\n%s\n%s", c.args, status, want, out, errs.String())
			}
		}
	}
	for _, args := range [][]string{{"--explain", "OS999"}, {"--run", "7"}} {
		var errs lockedBuffer
		if status, _ := command(t.Context(), &errs, append([]string{"diagnose", "isucondition", "--dir", dir, "--run", "1"}, args...)...); status != exitFailed || !strings.Contains(errs.String(), "hint: ") {
			t.Errorf("%v: status %d, %q", args, status, errs.String())
		}
	}
}

// TestDiagnoseRefuses tests that usage errors are found before anything is started.
func TestDiagnoseRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"diagnose"}, {"diagnose", "nonsense"}, {"diagnose", "isucondition", "--load", "0s"}, {"diagnose", "isucondition", "--explain", "DB101", "--json"},
		{"diagnose", "isucondition", "--explain", "DB101", "--score"}, {"diagnose", "isucondition", "--score", "--format", "tsv"},
		{"diagnose", "isucondition", "--pin", "x"},
	} {
		var errs lockedBuffer
		if status, _ := command(t.Context(), &errs, args...); status != exitUsage || !strings.Contains(errs.String(), "iikanji: ") {
			t.Errorf("%v: status %d, %q", args, status, errs.String())
		}
	}
}

// TestFirstCause: the command that is printed for evidence names the finding numbered 1, and
// a doubt only where there is no cause.
func TestFirstCause(t *testing.T) {
	doubt, cause := iikanji.Finding{Code: "OS104", Nature: iikanji.Nature{Doubt: true}}, iikanji.Finding{Code: "DB101"}
	for _, c := range []struct {
		findings []iikanji.Finding
		want     iikanji.Code
	}{
		{[]iikanji.Finding{doubt, cause}, "DB101"},
		{[]iikanji.Finding{cause, doubt}, "DB101"},
		{[]iikanji.Finding{doubt}, "OS104"},
	} {
		if got := firstCause(c.findings).Code; got != c.want {
			t.Errorf("%v: %s, want %s", c.findings, got, c.want)
		}
	}
}
