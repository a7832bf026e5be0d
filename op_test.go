package iikanji_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestOpComesBack checks that bodies are restored byte for byte, and that text stays
// readable in JSON.
func TestOpComesBack(t *testing.T) {
	for _, body := range []string{"", "text <b> & \u2028", "\x1f\x8b\x08\x00\xff", "\x00", "half \xe3\x81", "\xff\xfe", strings.Repeat("\x80", 4096)} {
		op := iikanji.Op{Verb: iikanji.Write, Place: "/a", Body: body, Expect: "absent"}
		text, err := json.Marshal([]iikanji.Op{op})
		if err != nil {
			t.Fatal(err)
		}
		var back []iikanji.Op
		if err := json.Unmarshal(text, &back); err != nil || len(back) != 1 || back[0] != op {
			t.Errorf("%q came back as %+v: %v\n%s", body, back, err, text)
		}
	}
	text, err := json.Marshal(iikanji.Op{Verb: iikanji.Reload, Place: "nginx"})
	if want := `{"verb":"reload","place":"nginx","body":""}`; err != nil || string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
	var op iikanji.Op
	if err := json.Unmarshal([]byte(`{"verb":"write","place":"/a","body":"x","body_base64":"eA=="}`), &op); err == nil {
		t.Error("two bodies were taken")
	}
}
