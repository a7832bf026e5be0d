package jsonread

import (
	"encoding/json"
	"testing"
)

func TestReader(t *testing.T) {
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{`{}`, true}, {` [ ] `, true}, {`null`, true}, {`-0`, true}, {`1e5`, true}, {`"aé\n"`, true},
		{`[1,2,{"a":[true,false,null]},"x"]`, true},
		{``, false}, {`[1,]`, false}, {`{"a":1,}`, false}, {`[1 2]`, false}, {`{"a" 1}`, false}, {`{a:1}`, false},
		{`01`, false}, {`+1`, false}, {`tru`, false}, {`nul`, false}, {"\"a\nb\"", false}, {`"a`, false}, {`"\`, false},
		{`"\x"`, false}, {`[}`, false}, {`1 2`, false}, {`[1`, false}, {"[\x00]", false}, {"\"\xff\"", false},
	} {
		r := New([]byte(c.text))
		r.Skip()
		if err := r.End(); (err == nil) != c.ok {
			t.Errorf("%q: %v, want ok %v", c.text, err, c.ok)
		}
	}
}

func TestReaderDepth(t *testing.T) {
	deep := make([]byte, 1<<20)
	for i := range deep {
		deep[i] = '['
	}
	r := New(deep)
	r.Skip()
	if r.End() == nil {
		t.Error("a million open brackets were accepted")
	}
}

func TestReaderInt(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "-1": -1, " 1628380800": 1628380800, "999999999999999999": 999999999999999999} {
		r := New([]byte(text))
		if got := r.Int(); got != want || r.End() != nil {
			t.Errorf("%q: %d, %v", text, got, r.Err())
		}
	}
	for _, text := range []string{"", "-", "1.0", "1e3", "01", "99999999999999999999", "null", `"1"`} {
		r := New([]byte(text))
		if n := r.Int(); r.End() == nil {
			t.Errorf("%q was read as the integer %d", text, n)
		}
	}
}

func TestReaderFloat(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "-1": -1, " 35.689500": 35.6895, "1.5e+2": 150, "1E-3": 0.001} {
		r := New([]byte(text))
		if got := r.Float(); got != want || r.End() != nil {
			t.Errorf("%q: %g, %v", text, got, r.Err())
		}
	}
	for _, text := range []string{"", "-", "1.", ".5", "01", "1e999", "NaN", "null", "true", `"1"`} {
		r := New([]byte(text))
		if n := r.Float(); r.End() == nil {
			t.Errorf("%q was read as the number %g", text, n)
		}
	}
}

// FuzzReader compares the reader with encoding/json: both accept the same texts,
// except for invalid UTF-8 and for nesting beyond the reader's depth.
func FuzzReader(f *testing.F) {
	for _, s := range []string{`[{"start_at":1,"data":null,"condition_timestamps":[1,2]}]`, `{"aあ":"\ud83d\ude00"}`, `[-1.5e+3,true]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := New(text)
		r.Skip()
		err := r.End()
		if err == nil && !json.Valid(text) {
			t.Fatalf("%q is not JSON but was accepted", text)
		}
		if err != nil && json.Valid(text) && !tolerated(text) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// tolerated reports whether the reader may refuse a valid text.
func tolerated(text []byte) bool {
	depth, deepest := 0, 0
	for _, c := range text {
		if c >= 0x80 {
			return true
		}
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		}
	}
	return deepest > maxDepth
}
