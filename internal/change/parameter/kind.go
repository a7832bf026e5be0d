package parameter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans values of parameters. The package comment has its arguments.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "parameter" }

// Target is the target of all remedies of this kind.
const Target = "bench"

// errNone is the error of a target whose command has no parameter.
var errNone = errors.New("the target declares no [[bench.parameter]]")

// Plan implements change.Kind.
func (k Kind) Plan(_ context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	_, want, err := match(r)
	if err != nil {
		return nil, err
	}
	b := &s.Target.Bench
	if r.Target != Target {
		return nil, fmt.Errorf("parameters are of the target %s, not of %q", Target, r.Target)
	}
	if b.ParameterFile == "" {
		return nil, errNone
	}
	old, err := s.ReadOld("", b.ParameterFile)
	if err != nil {
		return nil, err
	}
	text, says := string(old), []string(nil)
	for _, name := range slices.Sorted(maps.Keys(want.Values)) {
		p, now, err := parameterOf(b, old, name)
		if err != nil {
			return nil, err
		}
		value := want.Values[name]
		if err := allowed(p, value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if value == now {
			continue
		}
		text = set(text, name, value)
		says = append(says, fmt.Sprintf("%s = %s (was %s)", name, value, now))
	}
	if len(says) == 0 {
		return nil, change.ErrNothing
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: "set " + strings.Join(says, ", "), Risk: iikanji.RiskNone}
	change.FromEdits(c, iikanji.VerbUnknown, change.Edit{Path: b.ParameterFile, Old: old, New: []byte(text)})
	return c, nil
}

// parameterOf is a declared parameter with its value in the file, or else its declared one.
func parameterOf(b *iikanji.BenchRef, file []byte, name string) (p *iikanji.Parameter, now string, err error) {
	i := slices.IndexFunc(b.Parameters, func(p iikanji.Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil, "", fmt.Errorf("no parameter %q is declared below [[bench.parameter]]", name)
	}
	p, now = &b.Parameters[i], b.Parameters[i].Value
	for line := range strings.Lines(string(file)) {
		if of, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && of == name {
			now = value
		}
	}
	return p, now, nil
}

// allowed refuses a value that the parameter may not have, and an integer in another form.
func allowed(p *iikanji.Parameter, value string) error {
	if err := p.Allows(value); err != nil {
		return err
	}
	if n, err := strconv.ParseInt(value, 10, 64); len(p.Values) == 0 && err == nil && strconv.FormatInt(n, 10) != value {
		return fmt.Errorf("%.40q is not written as %d", value, n)
	}
	return nil
}

// header begins a file that iikanji makes.
const header = "# Values of parameters that iikanji has chosen; see `iikanji history`.\n"

// set replaces the line of a name, or adds one at the end.
func set(text, name, value string) string {
	if text == "" {
		text = header
	}
	var b strings.Builder
	found := false
	for line := range strings.Lines(text) {
		if of, _, ok := strings.Cut(strings.TrimSpace(line), "="); ok && of == name {
			if found {
				continue // the later line counted
			}
			found = true
			line = name + "=" + value + "\n"
		}
		if !strings.HasSuffix(line, "\n") {
			line += "\n"
		}
		b.WriteString(line)
	}
	if !found {
		b.WriteString(name + "=" + value + "\n")
	}
	return b.String()
}
