package target

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const parameterText = `version = 1
[bench]
command = "./run"
[[bench.parameter]]
name = "WORKERS"
value = "8"
least = 1
most = 64
[[bench.parameter]]
name = "CODEC"
value = "json"
values = ["json", "fast"]
`

func TestParameters(t *testing.T) {
	dir := t.TempDir()
	f, err := Parse(filepath.Join(dir, Name), []byte(parameterText))
	if err != nil || !f.ProgramOnly() {
		t.Fatalf("%v: %+v", err, f)
	}
	present := func() string {
		t.Helper()
		all, err := f.Parameters()
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, p := range all {
			text = append(text, p.Name+"="+p.Value+" of "+p.Declared)
		}
		return strings.Join(text, ", ")
	}
	if got := present(); got != "WORKERS=8 of 8, CODEC=json of json" {
		t.Errorf("without a file: %s", got)
	}
	if err := os.WriteFile(f.ParameterPath(), []byte("# mine\n\nWORKERS=16\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := present(); got != "WORKERS=16 of 8, CODEC=json of json" {
		t.Errorf("with a file: %s", got)
	}
}

func TestParameterMistakes(t *testing.T) {
	for from, c := range map[string]struct{ to, want string }{
		`name = "WORKERS"`:          {`name = "workers"`, `x.toml:5: name of a parameter is "workers"`},
		`name = "CODEC"`:            {`name = "WORKERS"`, "two parameters are called WORKERS"},
		`value = "8"`:               {`value = "80"`, "value of WORKERS: 80 is not between 1 and 64"},
		`value = "json"`:            {`value = "$(id)"`, "has other characters"},
		`most = 64`:                 {`most = 1`, "neither values nor bounds"},
		`values = ["json", "fast"]`: {`values = ["json"]`, "CODEC has one value only"},
		"version = 1":               {"version = 1\nurl = \"x\"", `url is "x"`},
		"name = \"WORKERS\"\nvalue": {"name = \"LD_PRELOAD\"\nvalue", "has a meaning of its own"},
	} {
		if _, err := Parse("x.toml", []byte(strings.Replace(parameterText, from, c.to, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.to, err, c.want)
		}
	}
	if _, err := Parse("x.toml", []byte("version = 1\n[bench]\ncommand = \"./run\"\n")); err == nil || !strings.Contains(err.Error(), "there is no [[service]]") {
		t.Errorf("neither services nor parameters: %v", err)
	}
}

// FuzzReadValues: what is read from a file of values is allowed by the declared parameters.
func FuzzReadValues(f *testing.F) {
	file, err := Parse("x.toml", []byte(parameterText))
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"", "WORKERS=16\n", "# x\nCODEC=fast", "WORKERS", "OTHER=1", "WORKERS=99", "CODEC=\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := file.ReadValues("x.env", []byte(text))
		if err != nil {
			return
		}
		for name, v := range values {
			for i := range file.Bench.Parameters {
				if p := &file.Bench.Parameters[i]; p.Name == name && p.Allows(v) != nil {
					t.Errorf("%s=%q", name, v)
				}
			}
		}
	})
}
