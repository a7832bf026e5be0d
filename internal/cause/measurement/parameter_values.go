package measurement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var parameterValues = cause.Declare(cause.PerRun, findParameterValues,
	cause.Cause{Code: "BEN109", Title: "other values of a parameter", Doubt: true, Relieves: cause.AnyLimit,
		Line:     "nothing but runs shows which value of a program's own parameter is best",
		Remedies: []cause.Way{cause.Plan("parameter", "", iikanji.RoleUnknown)}})

// findParameterValues lists other values of each declared parameter. Its place has the present
// value: a value that is in force answers for its own finding only, so that a search goes on
// from there.
func findParameterValues(v *cause.View) (out []iikanji.Finding) {
	for _, p := range v.Input.Target.Bench.Parameters {
		values := otherValues(p)
		if len(values) == 0 {
			continue
		}
		f := iikanji.Finding{Code: "BEN109", Where: p.Name + " = " + p.Value,
			Claim:    fmt.Sprintf("the parameter %s is %s; %s could be tried", p.Name, p.Value, strings.Join(values, ", ")),
			Evidence: []iikanji.Evidence{{Source: "target", Text: "declared below [[bench.parameter]]"}}}
		for _, value := range values {
			f.Remedies = append(f.Remedies, iikanji.Remedy{Kind: "parameter", Target: "bench", Says: fmt.Sprintf("run the command with %s = %s", p.Name, value), Args: map[string]string{"set." + p.Name: value}})
		}
		out = append(out, f)
	}
	return out
}

// otherValues are the values of a parameter that are worth a trial, in their order: the other
// words; of an integer the double, the half and the ends of its range.
func otherValues(p iikanji.Parameter) (values []string) {
	if len(p.Values) > 0 {
		return slices.DeleteFunc(slices.Clone(p.Values), func(v string) bool { return v == p.Value })
	}
	now, err := strconv.ParseInt(p.Value, 10, 64)
	if err != nil {
		return nil
	}
	declared, err := strconv.ParseInt(p.Declared, 10, 64)
	if err != nil {
		declared = now
	}
	for _, n := range steps(now, declared, p.Least, p.Most) {
		n = min(max(n, p.Least), p.Most)
		if text := strconv.FormatInt(n, 10); n != now && !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	return values
}

// steps are the next values of an integer. One that was changed already goes on in its
// direction and then in smaller steps: the value before was worse, and the end of the range
// on the other side was passed over.
func steps(now, declared, least, most int64) []int64 {
	whole, half := max(1, abs(now)), max(1, abs(now)/2)
	up, down := now+whole, now-half
	if now < 0 {
		up, down = now+half, now-whole
	}
	switch {
	case now > declared:
		return []int64{up, now + max(1, (up-now)/2), now - max(1, abs(now)/4)}
	case now < declared:
		return []int64{down, now - max(1, (now-down)/2), now + max(1, abs(now)/2)}
	}
	return []int64{up, down, most, least}
}

func abs(n int64) int64 { return max(n, -n) }
