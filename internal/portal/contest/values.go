package contest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// A decoder collects the mistakes of one file.
type decoder struct {
	lines    map[string]int
	mistakes []Mistake
	zone     *time.Location
	stem     string // the id of a contest whose file gives none
}

// at adds a mistake at a key, or at the nearest table above it that has a line.
func (d *decoder) at(path, format string, args ...any) {
	line := 0
	for p := path; ; {
		if l, ok := d.lines[p]; ok {
			line = l
			break
		}
		i := strings.LastIndexByte(p, '.')
		if i < 0 {
			break
		}
		p = p[:i]
	}
	d.mistakes = append(d.mistakes, Mistake{line, fmt.Sprintf(format, args...)})
}

// A table is one table of the file, with the keys that were asked for.
type table struct {
	d    *decoder
	path string
	data map[string]any
	seen map[string]bool
}

func (d *decoder) table(path string, data map[string]any) *table {
	return &table{d, path, data, map[string]bool{}}
}

// done adds a mistake for each key that nothing asked for.
func (t *table) done() {
	for _, key := range slices.Sorted(maps.Keys(t.data)) {
		if !t.seen[key] {
			known := slices.Sorted(maps.Keys(t.seen))
			t.d.at(join(t.path, key), "unknown key %q; known here: %s", key, strings.Join(known, ", "))
		}
	}
}

func (t *table) get(key string) (any, bool) {
	t.seen[key] = true
	v, ok := t.data[key]
	return v, ok
}

func (t *table) wrong(key, want string, got any) {
	t.d.at(join(t.path, key), "%s: want %s, not %s", key, want, kindOf(got))
}

func kindOf(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case map[string]any:
		return "a table"
	case []any:
		return "a list"
	}
	return fmt.Sprint(v)
}

// as reads a value of one Go type of TOML.
func as[T any](t *table, key, want string, or T) T {
	v, ok := t.get(key)
	if !ok {
		return or
	}
	got, ok := v.(T)
	if !ok {
		t.wrong(key, want, v)
		return or
	}
	return got
}

func (t *table) text(key, or string) string { return as(t, key, "a text in quotes", or) }
func (t *table) bool(key string, or bool) bool {
	return as(t, key, "true or false", or)
}

// number reads an integer between two bounds.
func (t *table) number(key string, or, least, most int) int {
	n := as(t, key, "a whole number", int64(or))
	if n < int64(least) || n > int64(most) {
		t.d.at(join(t.path, key), "%s: want %d to %d, not %d", key, least, most, n)
		return or
	}
	return int(n)
}

// float reads a number.
func (t *table) float(key string, or float64) float64 {
	v, ok := t.get(key)
	if !ok {
		return or
	}
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	t.wrong(key, "a number", v)
	return or
}

// oneOf reads one of some words.
func oneOf[T ~string](t *table, key string, or T, words ...T) T {
	got := T(t.text(key, string(or)))
	if !slices.Contains(words, got) {
		t.d.at(join(t.path, key), "%s: want one of %v, not %q", key, words, got)
		return or
	}
	return got
}

// duration reads a text such as "90s".
func (t *table) duration(key string, or time.Duration) time.Duration {
	text := t.text(key, "")
	if text == "" {
		return or
	}
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 || v > 366*24*time.Hour {
		t.d.at(join(t.path, key), `%s: want a duration such as "90s" or "1h30m", not %q`, key, text)
		return or
	}
	return v
}

// instant reads a time; one without a zone is in the contest's.
func (t *table) instant(key string) time.Time {
	v, ok := t.get(key)
	if !ok {
		return time.Time{}
	}
	switch v := v.(type) {
	case time.Time:
		return v.UTC()
	case toml.LocalDateTime:
		return v.AsTime(t.d.zone).UTC()
	}
	t.wrong(key, "a time such as 2027-02-06T10:00", v)
	return time.Time{}
}

// words reads a text, or a table of texts by language.
func (t *table) words(key string) Text {
	v, ok := t.get(key)
	if !ok {
		return nil
	}
	switch v := v.(type) {
	case string:
		return Text{"": v}
	case map[string]any:
		out := Text{}
		in := t.d.table(join(t.path, key), v)
		for lang := range v {
			out[lang] = in.text(lang, "")
		}
		return out
	}
	t.wrong(key, `a text, or { ja = "…", en = "…" }`, v)
	return nil
}

// list reads a list of texts.
func (t *table) list(key string) (out []string) {
	for i, v := range as(t, key, "a list", []any(nil)) {
		s, ok := v.(string)
		if !ok {
			t.d.at(join(t.path, key), "%s: entry %d is no text", key, i+1)
			continue
		}
		out = append(out, s)
	}
	return out
}

// ports reads a list of ports.
func (t *table) ports(key string) (out []int) {
	for i, v := range as(t, key, "a list of numbers", []any(nil)) {
		n, ok := v.(int64)
		if !ok || n < 1 || n > 65535 {
			t.d.at(join(t.path, key), "%s: entry %d is no port", key, i+1)
			continue
		}
		out = append(out, int(n))
	}
	return out
}

// below reads a table; an absent one is empty.
func (t *table) below(key string) *table {
	return t.d.table(join(t.path, key), as(t, key, "a table", map[string]any{}))
}

// each reads an array of tables.
func (t *table) each(key string, read func(*table)) {
	v, ok := t.get(key)
	if !ok {
		return
	}
	all, ok := v.([]any)
	if !ok {
		t.wrong(key, fmt.Sprintf("tables that begin with [[%s]]", key), v)
		return
	}
	for i, v := range all {
		m, ok := v.(map[string]any)
		if !ok {
			t.wrong(key, "tables", v)
			return
		}
		in := t.d.table(join(join(t.path, key), strconv.Itoa(i+1)), m)
		read(in)
		in.done()
	}
}
