package propose

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// Limits of an answer; those of texts are in bytes.
const (
	maxChanges = 50
	maxWord    = 64
	maxSays    = 300
	maxArgs    = 32
	// maxUnsorted is the most statements of a remedy whose rows may come in another order.
	maxUnsorted = 1000
	maxArg      = 8 << 10
	maxDiff     = 256 << 10 // of the argument "diff"; the limit of package change/patch
)

var (
	codeForm = regexp.MustCompile(`^[A-Z]{2,4}[0-9]{3}$`)
	argForm  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
)

// Answer parses the answer of a proposer strictly: the document, its limits, its
// kinds (one of kinds), and that no text has invisible characters. The kinds
// check the meaning of the arguments.
func Answer(b []byte, kinds []string) ([]Proposal, error) {
	if len(strings.TrimSpace(string(b))) == 0 {
		return nil, errors.New(`the answer is empty; without changes an answer is {"version": 1, "changes": []}`)
	}
	s, err := newStrict(b)
	if err != nil {
		return nil, err
	}
	var out []Proposal
	version, changes := "", false
	err = s.object("answer", func(name, place string) (err error) {
		switch name {
		case "version":
			if version, err = s.number(place); err == nil && version != fmt.Sprint(Version) {
				err = fmt.Errorf("%s is %s; the supported version is %d", place, version, Version)
			}
			return err
		case "changes":
			changes = true
			return s.array("changes", maxChanges, func(place string) error {
				p, err := proposal(s, place, kinds)
				out = append(out, p)
				return err
			})
		}
		return fmt.Errorf("%s is not a field; the fields are version and changes", place)
	})
	if err == nil {
		err = s.end()
	}
	switch {
	case err != nil:
		return nil, err
	case version == "":
		return nil, errors.New("answer: the version is missing")
	case !changes:
		return nil, errors.New("answer: the list of changes is missing; it may be empty")
	}
	return out, nil
}

// proposal reads one change.
func proposal(s *strict, place string, kinds []string) (p Proposal, err error) {
	r := &p.Remedy
	err = s.object(place, func(name, place string) (err error) {
		switch name {
		case "kind":
			r.Kind, err = s.text(place, maxWord)
			if err == nil && !slices.Contains(kinds, r.Kind) {
				err = fmt.Errorf("%s: %q is not a kind of change; the kinds are %s", place, r.Kind, strings.Join(kinds, ", "))
			}
		case "target":
			r.Target, err = line(s, place, maxWord)
		case "says":
			r.Says, err = line(s, place, maxSays)
		case "answers":
			var code string
			code, err = s.text(place, maxWord)
			if p.Answers = iikanji.Code(code); err == nil && code != "" && !codeForm.MatchString(code) {
				err = fmt.Errorf("%s: %q is not the code of a finding, such as DB101", place, code)
			}
		case "args":
			r.Args, err = arguments(s, place)
		case "unsorted": // of a remedy of the question that is given back; the run tells it, not the answer
			err = s.array(place, maxUnsorted, func(place string) error {
				_, err := s.text(place, maxArg)
				return err
			})
		default:
			err = fmt.Errorf("%s is not a field; the fields are kind, target, args, says and answers", place)
		}
		return err
	})
	switch {
	case err != nil:
		return p, err
	case r.Kind == "":
		return p, fmt.Errorf("%s: the kind is missing", place)
	case r.Target == "":
		return p, fmt.Errorf("%s: the target is missing", place)
	}
	return p, nil
}

// line reads a text of one line.
func line(s *strict, place string, limit int) (string, error) {
	v, err := s.text(place, limit)
	if err == nil && strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }) {
		err = fmt.Errorf("%s: %q has invisible characters", place, v)
	}
	return v, err
}

// arguments reads the arguments of a change. Values may have several lines, like a
// diff.
func arguments(s *strict, place string) (map[string]string, error) {
	args := map[string]string{}
	return args, s.object(place, func(name, place string) error {
		limit := maxArg
		if name == "diff" {
			limit = maxDiff
		}
		switch {
		case !argForm.MatchString(name):
			return fmt.Errorf("%s: not a valid name of an argument", place)
		case len(args) == maxArgs:
			return fmt.Errorf("%s: more than %d arguments", place, maxArgs)
		}
		v, err := s.text(place, limit)
		if err != nil {
			return err
		}
		if i := strings.IndexFunc(v, plain.Hides); i >= 0 {
			return fmt.Errorf("%s: byte %d is an invisible character", place, i)
		}
		args[name] = v
		return nil
	})
}
