package answers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// trees parses two bodies as JSON. ok is false if one of them is not, or was cut.
func trees(a, b *Answer) (x, y any, ok bool) {
	x, okA := tree(a)
	y, okB := tree(b)
	return x, y, okA && okB
}

func tree(a *Answer) (any, bool) {
	if a.Size > int64(len(a.Body)) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.UseNumber() // large numbers keep their digits
	var v any
	if d.Decode(&v) != nil || d.More() {
		return nil, false
	}
	return v, true
}

// differing lists the paths at which two values differ, without those in skip. The
// elements of a list have one path.
func differing(at string, x, y any, skip map[string]bool, anyOrder bool) []string {
	if skip[at] {
		return nil
	}
	switch a := x.(type) {
	case map[string]any:
		b, ok := y.(map[string]any)
		if !ok {
			return []string{at}
		}
		var out []string
		keys := map[string]bool{}
		for k := range a {
			keys[k] = true
		}
		for k := range b {
			keys[k] = true
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			va, inA := a[k]
			vb, inB := b[k]
			if path := at + "." + k; inA != inB && !skip[path] {
				out = append(out, path)
			} else if inA && inB {
				out = append(out, differing(path, va, vb, skip, anyOrder)...)
			}
		}
		return out
	case []any:
		b, ok := y.([]any)
		if !ok || len(a) != len(b) {
			return []string{at}
		}
		if anyOrder {
			a, b = sorted(at+"[]", a, skip), sorted(at+"[]", b, skip)
		}
		var out []string
		for i := range a {
			out = append(out, differing(at+"[]", a[i], b[i], skip, anyOrder)...)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	if x != y {
		return []string{at}
	}
	return nil
}

// sorted orders the elements of a list by their content, without what is skipped.
func sorted(at string, list []any, skip map[string]bool) []any {
	keys := make([]string, len(list))
	order := make([]int, len(list))
	for i, v := range list {
		keys[i], order[i] = canonical(at, v, skip), i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if keys[a] < keys[b] {
			return -1
		} else if keys[a] > keys[b] {
			return 1
		}
		return 0
	})
	out := make([]any, len(list))
	for i, j := range order {
		out[i] = list[j]
	}
	return out
}

// canonical is the text of a value: equal for values that differ in the order of
// lists only.
func canonical(at string, v any, skip map[string]bool) string {
	if skip[at] {
		return "*"
	}
	switch v := v.(type) {
	case map[string]any:
		out := "{"
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out += fmt.Sprintf("%q:%s,", k, canonical(at+"."+k, v[k], skip))
		}
		return out + "}"
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, canonical(at+"[]", e, skip))
		}
		slices.Sort(parts)
		return fmt.Sprint(parts)
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}
