package contest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// A Difference is one key whose value a second file changes. From or To is "" where a file
// lacks the key.
type Difference struct {
	Key  string `json:"key"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Compare lists the differences of two contest files, by key. Both have to be valid TOML.
func Compare(from, to []byte) ([]Difference, error) {
	var flat [2]map[string]string
	for i, text := range [][]byte{from, to} {
		top := map[string]any{}
		if err := toml.Unmarshal(text, &top); err != nil {
			return nil, fmt.Errorf("reading file %d of the comparison: %w", i+1, err)
		}
		flat[i] = map[string]string{}
		flatten(flat[i], "", top)
	}
	keys := maps.Clone(flat[0])
	maps.Copy(keys, flat[1])
	var out []Difference
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if a, b := flat[0][key], flat[1][key]; a != b {
			out = append(out, Difference{key, a, b})
		}
	}
	return out, nil
}

// flatten writes the leaves of a value by their paths. Tables of an array are named by their
// id, if they have one, so that a new round in the middle is one difference.
func flatten(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, in := range v {
			flatten(out, join(path, key), in)
		}
	case []any:
		for i, in := range v {
			name := strconv.Itoa(i + 1)
			if m, ok := in.(map[string]any); ok {
				id, _ := m["id"].(string)
				name = cmp.Or(id, name)
			}
			flatten(out, join(path, name), in)
		}
	case time.Time:
		out[path] = v.UTC().Format(time.RFC3339Nano)
	default:
		out[path] = fmt.Sprint(v)
	}
}
