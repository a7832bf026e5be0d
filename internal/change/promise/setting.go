package promise

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// All are the promises, in the order of their words.
var All = []iikanji.Promise{iikanji.Durability, iikanji.Freshness, iikanji.RowOrder, iikanji.Observability, iikanji.Availability, iikanji.Privacy,
	iikanji.Isolation, iikanji.TestedOnly, iikanji.Behaviour}

// A Setting is what is known of the effect of a setting on promises.
type Setting struct {
	Rules []Rule
	// Harmless is the reason why no value weakens a promise; "" with Rules.
	Harmless string
}

// A Rule is a promise and the changes of a value that weaken it. before is "" if
// the value before the change is not known.
type Rule struct {
	Promise iikanji.Promise
	Weaker  func(before, after string) bool
}

// A Table has the settings of one kind by their names.
type Table map[string]Setting

// Of lists the promises that a setting weakens when its value changes from
// before to after. A setting that is not in the table weakens all of them.
func (t Table) Of(name, before, after string) []iikanji.Promise {
	s, ok := t[name]
	if !ok {
		return slices.Clone(All)
	}
	if before != "" && before == after {
		return nil
	}
	var out []iikanji.Promise
	for _, r := range s.Rules {
		if r.Weaker(before, after) {
			out = append(out, r.Promise)
		}
	}
	return Join(out)
}

// Join merges lists of promises: sorted, each once.
func Join(lists ...[]iikanji.Promise) []iikanji.Promise {
	out := slices.Concat(lists...)
	slices.Sort(out)
	return slices.Compact(out)
}

func harmless(why string) Setting { return Setting{Harmless: why} }

func on(p iikanji.Promise, weaker func(before, after string) bool) Setting {
	return Setting{Rules: []Rule{{p, weaker}}}
}

// ranked reports a value of a lower rank. A value without a rank has the lowest
// one as the value after, and the highest one as the value before.
func ranked(rank map[string]int) func(before, after string) bool {
	highest := 0
	for _, n := range rank {
		highest = max(highest, n)
	}
	return func(before, after string) bool {
		is, known := rank[strings.ToUpper(after)]
		if !known {
			return true
		}
		was, known := rank[strings.ToUpper(before)]
		if !known {
			was = highest
		}
		return is < was
	}
}

// switchedOff reports a switch that is not on any more.
var switchedOff = ranked(map[string]int{"ON": 1, "1": 1, "OFF": 0, "0": 0})

// switchedOn reports a switch that is not off any more.
var switchedOn = ranked(map[string]int{"ON": 0, "1": 0, "OFF": 1, "0": 1})

// lowered reports a smaller number; a number that cannot be read is smaller.
func lowered(before, after string) bool {
	is, ok := number(after)
	was, known := number(before)
	return !ok || !known || is < was
}

// raised reports a larger number; a number that cannot be read is larger.
func raised(before, after string) bool {
	is, ok := number(after)
	was, known := number(before)
	return !ok || !known || is > was
}

// changed reports any other value.
func changed(before, after string) bool { return before != after }

// number reads a number with a unit of memory; "unlimited" is infinite.
func number(text string) (float64, bool) {
	if text == "unlimited" {
		return math.Inf(1), true
	}
	unit := 1.0
	if n := len(text); n > 0 {
		if i := strings.IndexByte("kmgt", text[n-1]|0x20); i >= 0 && text[n-1] > '9' {
			unit, text = math.Pow(1024, float64(i+1)), text[:n-1]
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	return v * unit, err == nil && !math.IsNaN(v)
}

// seconds reads a length of time of nginx; a number without a unit is in seconds.
func seconds(text string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	if text != "" && text[len(text)-1] <= '9' {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}
