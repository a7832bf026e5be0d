package isucondition

import (
	"encoding/json"
	"testing"
)

func TestJSONReader(t *testing.T) {
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
		r := jsonReader{b: []byte(c.text)}
		r.skip()
		if err := r.end(); (err == nil) != c.ok {
			t.Errorf("%q: %v, want ok %v", c.text, err, c.ok)
		}
	}
}

func TestJSONReaderDepth(t *testing.T) {
	deep := make([]byte, 1<<20)
	for i := range deep {
		deep[i] = '['
	}
	r := jsonReader{b: deep}
	r.skip()
	if r.end() == nil {
		t.Error("a million open brackets were accepted")
	}
}

func TestJSONReaderInt(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "-1": -1, " 1628380800": 1628380800, "999999999999999999": 999999999999999999} {
		r := jsonReader{b: []byte(text)}
		if got := r.int(); got != want || r.end() != nil {
			t.Errorf("%q: %d, %v", text, got, r.err)
		}
	}
	for _, text := range []string{"", "-", "1.0", "1e3", "01", "99999999999999999999", "null", `"1"`} {
		r := jsonReader{b: []byte(text)}
		if n := r.int(); r.end() == nil {
			t.Errorf("%q was read as the integer %d", text, n)
		}
	}
}

// FuzzJSONReader holds the reader against encoding/json: it accepts the same
// texts, but for bytes that are no UTF-8 and nesting beyond its depth.
func FuzzJSONReader(f *testing.F) {
	for _, s := range []string{`[{"start_at":1,"data":null,"condition_timestamps":[1,2]}]`, `{"aあ":"\ud83d\ude00"}`, `[-1.5e+3,true]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := jsonReader{b: text}
		r.skip()
		err := r.end()
		if err == nil && !json.Valid(text) {
			t.Fatalf("%q is no JSON but was accepted", text)
		}
		if err != nil && json.Valid(text) && !tolerated(text) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// tolerated says whether the reader may refuse a valid text.
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
