package cause_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestLockPlaces: a pair of statements that wait for each other, and the transactions of a
// deadlock, have the places of their statements in the source.
func TestLockPlaces(t *testing.T) {
	for file, want := range map[string][]string{
		"db117-long.txt": {"for update (sell.go:40 sell) waits for a row of app.concert (PRIMARY), locked by", "(sell.go:52 sell), up to 120 ms"},
		"db118-deadlock.txt": {"UPDATE item SET stock = 1 WHERE id = 2 (stock.go:12 take); waits for X locks rec but not gap of app.item (PRIMARY)",
			"UPDATE item SET stock = 1 WHERE id = 1 (stock.go:12 take); was rolled back"},
	} {
		a, err := txtar.ParseFile("testdata/rules/" + file)
		if err != nil {
			t.Fatal(err)
		}
		in, _ := readInput(t, a)
		fs, err := findAll(in)
		if err != nil {
			t.Fatal(err)
		}
		code := iikanji.Code(strings.ToUpper(file[:5]))
		i := slices.IndexFunc(fs, func(f iikanji.Finding) bool { return f.Code == code })
		if i < 0 {
			t.Errorf("%s: no finding %s", file, code)
			continue
		}
		var text strings.Builder
		for _, e := range fs[i].Evidence {
			text.WriteString(e.Text + "\n")
		}
		for _, part := range want {
			if !strings.Contains(strings.ToLower(text.String()), strings.ToLower(part)) {
				t.Errorf("%s: %q is not in the evidence:\n%s", file, part, text.String())
			}
		}
	}
}
