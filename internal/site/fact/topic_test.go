package fact

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestFact: a value is JSON text in a history, as it was before topics had types.
func TestFact(t *testing.T) {
	f := TopicInnoDB.Fact("db", "reads", Moved{Before: 1, After: 2.5}, true)
	got, err := f.Encoded()
	if err != nil {
		t.Fatal(err)
	}
	if want := (iikanji.Fact{Target: "db", Topic: "innodb", Key: "reads", Value: `{"before":1,"after":2.5}`, Moves: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, f := range []iikanji.Fact{f, got} { // of the process, and of a history
		if v, err := TopicInnoDB.Value(f); err != nil || v.Grown() != 1.5 {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if f := TopicReady.Fact("app", "seconds", 1.25, true); Text(f) != "1.25" {
		t.Errorf("%q", Text(f))
	}
	f.Data = "no number"
	if v, err := TopicInnoDB.Value(f); err == nil {
		t.Errorf("a text was read as %+v", v)
	}
	if f := Topic[string]("text").Fact("db", "k", "a\nb", false); f.Value != "a\nb" {
		t.Errorf("%q", f.Value)
	}
}

// TestDecode: a value that is not of its topic's type is an error that names the fact.
func TestDecode(t *testing.T) {
	good := []iikanji.Fact{TopicWorkers.Fact("app", "puma", Workers{}, true), {Topic: "variable", Key: "version", Value: "10.11"}, {Topic: "of a newer version", Value: "{"}}
	if err := Decode(good); err != nil {
		t.Error(err)
	}
	read := []iikanji.Fact{{Topic: "innodb", Value: `{"before": 1, "after": 3}`}}
	if err := Decode(read); err != nil || read[0].Data != (Moved{Before: 1, After: 3}) || Text(read[0]) != `{"before": 1, "after": 3}` {
		t.Errorf("%+v, %v", read, err) // typed, and in a history again as it was written
	}
	err := Decode(append(good, iikanji.Fact{Target: "db", Topic: "table", Key: "a.t", Value: "{"}, iikanji.Fact{Target: "web", Topic: "answer", Key: "GET /", Value: `"x"`}))
	if err == nil || !strings.Contains(err.Error(), "db: reading the fact table a.t") || !strings.Contains(err.Error(), "web: reading the fact answer GET /") {
		t.Errorf("%v", err)
	}
	for f := range TopicTable.In(append(good, iikanji.Fact{Topic: "table", Value: "{"})) {
		t.Errorf("%+v was read", f)
	}
}

// TestAllTyped: each topic of this package is in typedTopics, so that Decode knows it.
func TestAllTyped(t *testing.T) {
	source, err := exec.Command("grep", "-hoE", `^(const)?\s*Topic\w+ +Topic\[`, "-r", "--include=*.go", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`Topic\w+`).FindAllString(strings.ReplaceAll(string(source), "Topic[", ""), -1)
	if n := len(typedTopics()); n != len(declared) || n < 23 {
		t.Errorf("%d topics are declared, Decode knows %d: %q", len(declared), n, declared)
	}
}
