package propose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// A strict parses JSON strictly: an unknown field, a duplicate field, and a field in
// another case are errors that name their place. encoding/json's Unmarshal accepts
// "KIND" for "kind", and the last of two duplicates.
type strict struct{ dec *json.Decoder }

func newStrict(b []byte) (*strict, error) {
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("the answer is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	return &strict{dec}, nil
}

func (s *strict) token(place string) (json.Token, error) {
	t, err := s.dec.Token()
	if err == io.EOF {
		err = fmt.Errorf("unexpected end")
	}
	if err != nil {
		return nil, fmt.Errorf("%s, byte %d: invalid JSON: %w", place, s.dec.InputOffset(), err)
	}
	return t, nil
}

func (s *strict) delim(place string, want json.Delim, name string) error {
	t, err := s.token(place)
	if err != nil {
		return err
	}
	if t != want {
		return fmt.Errorf("%s: want %s", place, name)
	}
	return nil
}

// object reads an object; field is called for each of its names, once each.
func (s *strict) object(place string, field func(name, place string) error) error {
	if err := s.delim(place, '{', "an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for s.dec.More() {
		t, err := s.token(place)
		if err != nil {
			return err
		}
		name, _ := t.(string) // the decoder allows only strings as names
		at := place + "." + shortened(name)
		if seen[name] {
			return fmt.Errorf("%s: duplicate field", at)
		}
		seen[name] = true
		if err := field(name, at); err != nil {
			return err
		}
	}
	return s.delim(place, '}', "the end of the object")
}

// array reads a list of at most limit elements.
func (s *strict) array(place string, limit int, element func(place string) error) error {
	if err := s.delim(place, '[', "a list"); err != nil {
		return err
	}
	for i := 0; s.dec.More(); i++ {
		if i == limit {
			return fmt.Errorf("%s: more than %d", place, limit)
		}
		if err := element(fmt.Sprintf("%s[%d]", place, i)); err != nil {
			return err
		}
	}
	return s.delim(place, ']', "the end of the list")
}

// text reads a string of at most limit bytes.
func (s *strict) text(place string, limit int) (string, error) {
	t, err := s.token(place)
	if err != nil {
		return "", err
	}
	v, ok := t.(string)
	switch {
	case !ok:
		return "", fmt.Errorf("%s: want a string", place)
	case len(v) > limit:
		return "", fmt.Errorf("%s: %d bytes, %d are allowed", place, len(v), limit)
	}
	return v, nil
}

// number reads a number and returns its literal.
func (s *strict) number(place string) (string, error) {
	t, err := s.token(place)
	if err != nil {
		return "", err
	}
	n, ok := t.(json.Number)
	if !ok {
		return "", fmt.Errorf("%s: want a number", place)
	}
	return n.String(), nil
}

// end returns an error if anything follows the document.
func (s *strict) end() error {
	if _, err := s.dec.Token(); err != io.EOF {
		return fmt.Errorf("answer, byte %d: data after the document", s.dec.InputOffset())
	}
	return nil
}

// shortened returns a name for an error: shortened, and quoted if necessary.
func shortened(name string) string {
	const limit = 40
	q := fmt.Sprintf("%.*q", limit, name)
	if q == `"`+name+`"` && name != "" {
		return name
	}
	return q
}
