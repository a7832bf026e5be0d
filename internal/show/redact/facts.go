package redact

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/plain"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// environment matches topics whose values are settings of the user. All of their
// values are removed.
var environment = regexp.MustCompile(`(?i)^env`)

// Facts returns facts without values that look like secrets: values of names
// such as password or token, credentials in addresses, keys, tokens, environment
// variables, and string literals of statements. Names are kept, so that a reader
// sees that a value exists.
//
// A secret that is a common word under a common name is not recognised.
func Facts(facts []iikanji.Fact) []iikanji.Fact {
	out := make([]iikanji.Fact, len(facts))
	for i, f := range facts {
		out[i] = withoutSecrets(f)
	}
	return out
}

func withoutSecrets(f iikanji.Fact) iikanji.Fact {
	f, err := f.Encoded()
	if err != nil {
		f.Value, f.Data = Removed, nil
	}
	switch {
	case environment.MatchString(f.Topic), secretName(f.Key) && !isJSON(f.Value):
		f.Value = Removed
	case isJSON(f.Value):
		f.Value = jsonText(f.Value)
	default:
		f.Value = Text(f.Value)
	}
	if fact.TopicSelectivity.Is(f) { // the key is a SQL condition
		f.Key = sqlLiterals(f.Key)
	}
	f.Key = Text(f.Key)
	return f
}

func isJSON(v string) bool {
	return len(v) > 0 && (v[0] == '{' || v[0] == '[') && json.Valid([]byte(v))
}

// Args removes secrets from the arguments of a remedy.
func Args(args map[string]string) map[string]string {
	out := maps.Clone(args)
	for name, v := range out {
		if secretPair(name, v) {
			v = Removed
		}
		out[name] = Text(v)
	}
	return out
}

// jsonText removes secrets from every string of a JSON document.
func jsonText(text string) string {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber() // keep all digits of a bigint
	var tree any
	if err := dec.Decode(&tree); err != nil && err != io.EOF {
		return Removed // cannot happen: the caller has checked the JSON
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(cleaned("", tree)); err != nil {
		return Removed
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxText is the number of bytes that are kept of one string of a fact.
const maxText = 4096

// cleaned returns a value without secrets. name is its key; "" for an element of a
// list.
func cleaned(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if d, ok := v["name"].(string); ok && secretName(d) {
			if _, ok := v["args"]; ok { // a directive that sets a secret
				v["args"] = []any{Removed}
			}
		}
		out := make(map[string]any, len(v))
		for k := range v {
			out[Text(k)] = cleaned(k, v[k])
		}
		return out
	case []any:
		return cleanedList(name, v)
	case string:
		if secretPair(name, v) {
			return Removed
		}
		if name == "sql" {
			v = sqlLiterals(v)
		}
		return Text(plain.CutBytes(v, maxText))
	}
	return v
}

// cleanedList returns a list without secrets. In the arguments of a directive, the
// arguments after a secret's name are secrets: proxy_set_header Authorization "…".
func cleanedList(name string, list []any) []any {
	hide := false
	for i, e := range list {
		s, ok := e.(string)
		switch {
		case !ok:
			list[i] = cleaned(name, e)
		case hide:
			list[i] = Removed
		default:
			list[i] = cleaned("", s)
			hide = name == "args" && secretName(s)
		}
	}
	return list
}
