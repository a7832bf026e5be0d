package nginxedit

import (
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// A Slice is a length of time that divides the clock evenly in decimal, so that
// an expression can read it from $msec ("1700000000.123").
type Slice struct {
	Length time.Duration
	same   []string // the next digits, as expressions: each stands for one slice
	kept   string   // the digits that are the same during a slice, as an expression
}

// slicesOfTime are all lengths, shortest first.
func slicesOfTime() []Slice {
	halves, fifths, tenths := []string{"[0-4]", "[5-9]"}, []string{"[01]", "[23]", "[45]", "[67]", "[89]"}, []string{`\d`}
	one := []string{""}
	return []Slice{
		{100 * time.Millisecond, one, `\d+\.\d`},
		{200 * time.Millisecond, fifths, `\d+\.`},
		{500 * time.Millisecond, halves, `\d+\.`},
		{time.Second, one, `\d+\.`},
		{2 * time.Second, fifths, `\d+`},
		{5 * time.Second, halves, `\d+`},
		{10 * time.Second, tenths, `\d+`},
		{20 * time.Second, fifths, `\d+`},
		{50 * time.Second, halves, `\d+`},
		{100 * time.Second, tenths, `\d+`},
	}
}

// SliceOf is the longest slice that is not longer than d.
func SliceOf(d time.Duration) Slice {
	all := slicesOfTime()
	best := all[0]
	for _, s := range all {
		if s.Length <= d {
			best = s
		}
	}
	switch { // the digits after, up to the point
	case best.Length >= 20*time.Second:
		best.same = withSuffix(best.same, `\d\.`)
	case best.Length >= 2*time.Second:
		best.same = withSuffix(best.same, `\.`)
	}
	return best
}

func withSuffix(parts []string, suffix string) []string {
	var out []string
	for _, p := range parts {
		out = append(out, p+suffix)
	}
	return out
}

// Variable is the name of the variable that is different in each slice.
func (s Slice) Variable() string {
	return "$iikanji_slice_" + strings.ReplaceAll(s.Length.String(), ".", "_")
}

// Block is the map that sets the variable: to the digits that are the same
// during a slice, and a letter for the next digits.
func (s Slice) Block() *nginx.Directive {
	m := nginx.NewBlock("map", "$msec", s.Variable())
	m.Put(nginx.New("default", "$msec"))
	for i, same := range s.same {
		m.Put(nginx.New("~^(?<iikanji_time>"+s.kept+")"+same, "${iikanji_time}"+string(rune('a'+i))))
	}
	return m
}

// Define adds the map of a slice, once.
func (s Slice) Define(t *Plan, http *nginx.Directive) {
	for _, m := range t.Get(http, "map") {
		if m.Arg(1) == s.Variable() {
			return
		}
	}
	InsertBeforeServers(http, s.Block())
}
