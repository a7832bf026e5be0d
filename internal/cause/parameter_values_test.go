package cause_test

import (
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestParameterValues: the values that are named for a trial, in their order.
func TestParameterValues(t *testing.T) {
	number := func(value string, least, most int64) iikanji.Parameter {
		return iikanji.Parameter{Name: "N", Value: value, Least: least, Most: most}
	}
	moved := func(value, declared string) iikanji.Parameter {
		return iikanji.Parameter{Name: "N", Value: value, Declared: declared, Least: 1, Most: 256}
	}
	for name, c := range map[string]struct {
		p    iikanji.Parameter
		want []string
	}{
		"in the middle":   {number("8", 1, 256), []string{"16", "4", "256", "1"}},
		"at the end":      {number("256", 1, 256), []string{"128", "1"}},
		"near the end":    {number("200", 1, 256), []string{"256", "100", "1"}},
		"zero":            {number("0", 0, 4), []string{"1", "4"}},
		"below zero":      {number("-8", -20, 20), []string{"-4", "-16", "20", "-20"}},
		"no other value":  {number("1", 1, 1), nil},
		"on the way up":   {moved("32", "8"), []string{"64", "48", "24"}},
		"up to the end":   {moved("256", "8"), []string{"192"}},
		"on the way down": {moved("8", "32"), []string{"4", "6", "12"}},
		"down to the end": {moved("1", "32"), []string{"2"}},
		"words":           {iikanji.Parameter{Name: "N", Value: "b", Values: []string{"a", "b", "c"}}, []string{"a", "c"}},
		"not an integer":  {number("x", 1, 2), nil},
		"one step is all": {number("1", 1, 2), []string{"2"}},
	} {
		in := saidRun()
		in.Target.Bench.Parameters = []iikanji.Parameter{c.p}
		found, err := findAll(in)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			if f.Code != "BEN109" {
				continue
			}
			if f.Where != "N = "+c.p.Value {
				t.Errorf("%s: its place is %q", name, f.Where)
			}
			for _, r := range f.Remedies {
				got = append(got, r.Args["set.N"])
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
