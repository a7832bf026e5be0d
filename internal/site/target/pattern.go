package target

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A Pattern finds a value in the output of a benchmarker.
type Pattern struct {
	// JSON is the path of a value in the last JSON document of the output, as in
	// result.steps[0].count; [*] stands for each element of a list. nil for an
	// expression.
	JSON []string
	// Regex is an expression; its first group is the value, without a group the
	// whole match. nil for a path.
	Regex *regexp.Regexp
	text  string
}

// None reports whether there is no pattern.
func (p Pattern) None() bool { return p.JSON == nil && p.Regex == nil }

func (p Pattern) String() string { return p.text }

// MarshalText is the inverse of UnmarshalText.
func (p Pattern) MarshalText() ([]byte, error) { return []byte(p.text), nil }

var pathPart = regexp.MustCompile(`^(?:\*|[0-9]+|[^][.]+)$`)

// UnmarshalText reads "json:PATH" or "regex:EXPRESSION".
func (p *Pattern) UnmarshalText(b []byte) error {
	kind, rest, _ := strings.Cut(string(b), ":")
	p.text = string(b)
	switch kind {
	case "json":
		for part := range strings.SplitSeq(strings.NewReplacer("[", ".", "]", "").Replace(strings.TrimPrefix(rest, ".")), ".") {
			if !pathPart.MatchString(part) {
				return fmt.Errorf("%q is not a path, as in json:result.score or json:steps[0].count", rest)
			}
			p.JSON = append(p.JSON, part)
		}
		return nil
	case "regex":
		re, err := regexp.Compile(rest)
		if err != nil {
			return fmt.Errorf("%w", err)
		}
		if rest == "" {
			return errors.New("the expression is empty")
		}
		p.Regex = re
		return nil
	}
	return fmt.Errorf("%q is not a pattern; want json:PATH or regex:EXPRESSION", b)
}
