package change

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

type upper string

func (u *upper) UnmarshalText(b []byte) error {
	if len(b) > 3 {
		return errors.New("want at most 3 letters")
	}
	*u = upper(strings.ToUpper(string(b)))
	return nil
}

type sampleArgs struct {
	Count int    `arg:"count,required" range:"1,10" help:"how many"`
	Word  string `arg:"word" oneof:"on,off" default:"on"`
	Min   *int   `arg:"min" range:"0,5"`
	Big   upper  `arg:"big"`
	Free  string `arg:"free-text"`
	other int
}

func (s *sampleArgs) Validate() error {
	if s.Count == 7 {
		return errors.New("count 7: not on a Sunday")
	}
	return nil
}

func TestDecode(t *testing.T) {
	var got sampleArgs
	if err := Decode(map[string]string{"act": "x", "count": "3", "min": "0", "big": "abc", "word": "", "free-text": "a b"}, &got); err != nil {
		t.Fatal(err)
	}
	zero := 0
	if want := (sampleArgs{Count: 3, Word: "on", Min: &zero, Big: "ABC", Free: "a b"}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	var least sampleArgs
	if err := Decode(map[string]string{"count": "10"}, &least); err != nil || least.Min != nil || least.other != 0 {
		t.Errorf("%+v, %v", least, err)
	}
	want := []Arg{{Name: "count", Help: "how many", Required: true}, {Name: "word", Default: "on"}, {Name: "min"}, {Name: "big"}, {Name: "free-text"}}
	if got := ArgsOf(&least); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		args map[string]string
		want string
	}{
		{map[string]string{}, "argument count is missing: how many"},
		{map[string]string{"count": ""}, "argument count is missing"},
		{map[string]string{"count": "0"}, `count "0": want a whole number from 1 to 10`},
		{map[string]string{"count": "11"}, `count "11": want`},
		{map[string]string{"count": "1.5"}, `count "1.5": want`},
		{map[string]string{"count": "1", "min": "6"}, `min "6": want a whole number from 0 to 5`},
		{map[string]string{"count": "1", "word": "ON"}, `word "ON": want on or off`},
		{map[string]string{"count": "1", "big": "abcd"}, `big "abcd": want at most 3 letters`},
		{map[string]string{"cuont": "1"}, `unknown argument "cuont": did you mean "count"?`},
		{map[string]string{"count": "1", "free_text": "x"}, `did you mean "free-text"?`},
		{map[string]string{"count": "1", "Word": "on"}, `did you mean "word"?`},
		{map[string]string{"count": "1", "schema": "x"}, `unknown argument "schema": there are count, word, min, big, free-text`},
		{map[string]string{"count": "7"}, "not on a Sunday"},
	} {
		if err := Decode(c.args, new(sampleArgs)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}

// FuzzDecode: no argument panics, and what is decoded keeps to its bounds.
func FuzzDecode(f *testing.F) {
	f.Add("count", "3", "big", "xyz")
	f.Add("cuont", "-9999999999999999999999", "word", "off")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		var s sampleArgs
		if err := Decode(map[string]string{a: b, c: d}, &s); err == nil && (s.Count < 1 || s.Count > 10 || s.Word != "on" && s.Word != "off") {
			t.Fatalf("%+v", s)
		}
	})
}

type inner struct {
	Deep string `arg:"deep" help:"of an embedded struct"`
}

type manyArgs struct {
	inner
	Env  map[string]string `arg:"env.NAME,many"`
	Pool int               `arg:"pool"`
}

type anyArgs struct {
	Own    string            `arg:"own"`
	Values map[string]string `arg:"NAME,many"`
}

// TestDecodeMany: a map takes the arguments that no other field declares.
func TestDecodeMany(t *testing.T) {
	var got manyArgs
	if err := Decode(map[string]string{"env.A": "1", "env.pool": "", "pool": "3", "deep": "d"}, &got); err != nil {
		t.Fatal(err)
	}
	if want := (manyArgs{inner{"d"}, map[string]string{"A": "1", "pool": ""}, 3}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if err := Decode(map[string]string{"environment": "1"}, &got); err == nil || !strings.Contains(err.Error(), `unknown argument "environment"`) {
		t.Errorf("%v", err)
	}
	var all anyArgs
	if err := Decode(map[string]string{"act": "x", "own": "o", "a": "1", "act2": "2"}, &all); err != nil || !reflect.DeepEqual(all, anyArgs{"o", map[string]string{"a": "1", "act2": "2"}}) {
		t.Errorf("%+v, %v", all, err)
	}
}
