package propose

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/iikanji/iikanji"
)

// Limits of an answer, in bytes where they are about text.
const (
	maxChanges = 50
	maxWord    = 64
	maxSays    = 300
	maxArgs    = 32
	maxArg     = 8 << 10
	maxDiff    = 256 << 10 // the argument "diff", as package change/patch has it
)

var (
	codeForm = regexp.MustCompile(`^[A-Z]{2,4}[0-9]{3}$`)
	argForm  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
)

// Answer reads what a proposer wrote, strictly: the document, its limits, its
// kinds (kinds are those that there are), and that no text holds what its
// readers would not see. What the arguments mean is for the kinds to check.
func Answer(b []byte, kinds []string) ([]Proposal, error) {
	if len(strings.TrimSpace(string(b))) == 0 {
		return nil, errors.New(`it answered nothing; without changes an answer is {"version": 1, "changes": []}`)
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
				err = fmt.Errorf("%s is %s, and here is version %d", place, version, Version)
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
		return fmt.Errorf("%s is no field; there are version and changes", place)
	})
	if err == nil {
		err = s.end()
	}
	switch {
	case err != nil:
		return nil, err
	case version == "":
		return nil, errors.New("answer: there is no version")
	case !changes:
		return nil, errors.New("answer: there are no changes, not even an empty list")
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
				err = fmt.Errorf("%s: %q is no kind of change; there are %s", place, r.Kind, strings.Join(kinds, ", "))
			}
		case "target":
			r.Target, err = line(s, place, maxWord)
		case "says":
			r.Says, err = line(s, place, maxSays)
		case "answers":
			var code string
			code, err = s.text(place, maxWord)
			if p.Answers = iikanji.Code(code); err == nil && code != "" && !codeForm.MatchString(code) {
				err = fmt.Errorf("%s: %q is no code of a finding, such as DB101", place, code)
			}
		case "args":
			r.Args, err = arguments(s, place)
		default:
			err = fmt.Errorf("%s is no field; there are kind, target, args, says and answers", place)
		}
		return err
	})
	switch {
	case err != nil:
		return p, err
	case r.Kind == "":
		return p, fmt.Errorf("%s: there is no kind", place)
	case r.Target == "":
		return p, fmt.Errorf("%s: there is no target", place)
	}
	return p, nil
}

// line reads a text of one line.
func line(s *strict, place string, limit int) (string, error) {
	v, err := s.text(place, limit)
	if err == nil && strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }) {
		err = fmt.Errorf("%s: %q has characters that cannot be seen", place, v)
	}
	return v, err
}

// arguments reads the arguments of a change. Their values may have several
// lines, as those of a diff.
func arguments(s *strict, place string) (map[string]string, error) {
	args := map[string]string{}
	return args, s.object(place, func(name, place string) error {
		limit := maxArg
		if name == "diff" {
			limit = maxDiff
		}
		switch {
		case !argForm.MatchString(name):
			return fmt.Errorf("%s: no name of an argument", place)
		case len(args) == maxArgs:
			return fmt.Errorf("%s: more than %d arguments", place, maxArgs)
		}
		v, err := s.text(place, limit)
		if err != nil {
			return err
		}
		if i := strings.IndexFunc(v, hides); i >= 0 {
			return fmt.Errorf("%s: byte %d is a character that cannot be seen", place, i)
		}
		args[name] = v
		return nil
	})
}

// hides says whether a character hides text from its readers: control
// characters but white space, and those that override the direction of writing.
func hides(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\f", r) || unicode.Is(unicode.Bidi_Control, r)
}
