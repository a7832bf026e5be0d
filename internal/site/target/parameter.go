package target

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// A Parameter is a setting of the benchmarker's command, or of the program that it starts:
// an integer between bounds, or one of some values.
type Parameter struct {
	Name   string   `toml:"name" help:"variable of the environment in which the command finds the value" example:"WORKERS" need:"yes"`
	Value  string   `toml:"value" help:"value before iikanji changes it" example:"8" need:"yes"`
	Least  int      `toml:"least" help:"of an integer: the least value" example:"1"`
	Most   int      `toml:"most" help:"of an integer: the largest value" example:"256"`
	Values []string `toml:"values" help:"all values, of a setting that is no integer" example:"[\"json\", \"fast\"]"`
}

// ParameterFile is the name of the file with the values that iikanji has chosen, beside
// iikanji.toml: lines NAME=VALUE. Without it each parameter has its value of iikanji.toml.
const ParameterFile = "parameters.env"

// maxParameters bounds the parameters of a command.
const maxParameters = 100

var parameterName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,63}$`)

// declared is the parameter in the words of iikanji, with its declared value.
func (p *Parameter) declared() iikanji.Parameter {
	return iikanji.Parameter{Name: p.Name, Value: p.Value, Declared: p.Value, Values: p.Values, Least: int64(p.Least), Most: int64(p.Most)}
}

// Allows reports why a value is none of the parameter's; nil if it is one.
func (p *Parameter) Allows(value string) error {
	one := p.declared()
	return one.Allows(value)
}

// parameters checks the parameters of the command.
func (c *checker) parameters(all []Parameter) {
	if len(all) > maxParameters {
		c.at("bench.parameter", "", "there are %d parameters; at most %d are possible", len(all), maxParameters)
	}
	seen := map[string]bool{}
	for i := range all {
		p, path := &all[i], "bench.parameter."+strconv.Itoa(i+1)
		switch {
		case !parameterName.MatchString(p.Name):
			c.at(path+".name", `write name = "WORKERS"`, "name of a parameter is %q; want capital letters, digits and _", p.Name)
		case strings.HasPrefix(p.Name, "IIKANJI_"), p.Name == "PATH", strings.HasPrefix(p.Name, "LD_"):
			c.at(path+".name", "", "%s has a meaning of its own and is no parameter", p.Name)
		case seen[p.Name]:
			c.at(path+".name", "", "two parameters are called %s", p.Name)
		case len(p.Values) > 0 && (p.Least != 0 || p.Most != 0):
			c.at(path+".values", "", "%s has values and bounds; want one of them", p.Name)
		case len(p.Values) == 0 && p.Least >= p.Most:
			c.at(path, `write least = 1 and most = 64, or values = ["a", "b"]`, "%s has neither values nor bounds of an integer", p.Name)
		case len(p.Values) == 1:
			c.at(path+".values", "", "%s has one value only", p.Name)
		}
		seen[p.Name] = true
		for _, v := range append([]string{p.Value}, p.Values...) {
			if err := p.Allows(v); err != nil {
				c.at(path+".value", "", "value of %s: %v", p.Name, err)
				break
			}
		}
	}
}

// ProgramOnly reports whether the target is a command with parameters, without services.
func (f *File) ProgramOnly() bool { return len(f.Services) == 0 && len(f.Bench.Parameters) > 0 }

// ParameterPath is the path of the file with the chosen values, "" for a command without
// parameters.
func (f *File) ParameterPath() string {
	if len(f.Bench.Parameters) == 0 || f.Path == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(f.Path), ParameterFile)
}

// A ValueError is a line of the file with the chosen values that is none.
type ValueError struct {
	File string
	Line int
	Why  string
}

func (e *ValueError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why) }

// Hints tells what to do.
func (e *ValueError) Hints() []string {
	return []string{"mend the line, or remove the file: then each parameter has its value of " + Name}
}

// Parameters are the parameters with their present values.
func (f *File) Parameters() ([]iikanji.Parameter, error) {
	var chosen map[string]string
	if path := f.ParameterPath(); path != "" {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading the values of parameters: %w", err)
		}
		if chosen, err = f.ReadValues(path, text); err != nil {
			return nil, err
		}
	}
	var all []iikanji.Parameter
	for i := range f.Bench.Parameters {
		p := &f.Bench.Parameters[i]
		one := p.declared()
		if v, ok := chosen[p.Name]; ok {
			one.Value = v
		}
		all = append(all, one)
	}
	return all, nil
}

// ReadValues reads lines NAME=VALUE of a file, each of a declared parameter. Empty lines and
// those that begin with # are left out.
func (f *File) ReadValues(path string, text []byte) (map[string]string, error) {
	chosen := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		i := slices.IndexFunc(f.Bench.Parameters, func(p Parameter) bool { return p.Name == name })
		switch {
		case !ok:
			return nil, &ValueError{path, n, "want NAME=VALUE"}
		case i < 0:
			return nil, &ValueError{path, n, fmt.Sprintf("%s has no parameter %.40q", Name, name)}
		}
		if err := f.Bench.Parameters[i].Allows(value); err != nil {
			return nil, &ValueError{path, n, name + ": " + err.Error()}
		}
		chosen[name] = value
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return chosen, nil
}
