package propose

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji"
)

// Removed stands where a secret was.
const Removed = "[removed]"

// environment are topics of facts whose values are people's own settings: none
// of them is told.
var environment = regexp.MustCompile(`(?i)^env`)

// Secrets returns facts without what looks like a secret: values of names such
// as password or token, credentials in addresses, keys, tokens, values of the
// environment, and the texts that stand in statements. The names stay, so that
// it can be seen that there is something.
//
// What looks like none is told: a secret that is a common word under a common
// name cannot be seen.
func Secrets(facts []iikanji.Fact) []iikanji.Fact {
	out := make([]iikanji.Fact, len(facts))
	for i, f := range facts {
		out[i] = withoutSecretFact(f)
	}
	return out
}

func withoutSecretFact(f iikanji.Fact) iikanji.Fact {
	switch {
	case environment.MatchString(f.Topic), secretName(f.Key) && !isJSON(f.Value):
		f.Value = Removed
	case isJSON(f.Value):
		f.Value = withoutSecretsJSON(f.Value)
	default:
		f.Value = withoutSecrets(f.Value)
	}
	if f.Topic == iikanji.TopicSelectivity { // the key is a condition
		f.Key = withoutTexts(f.Key)
	}
	f.Key = withoutSecrets(f.Key)
	return f
}

func isJSON(v string) bool {
	return len(v) > 0 && (v[0] == '{' || v[0] == '[') && json.Valid([]byte(v))
}

// withoutSecretArgs is the same for the arguments of a remedy.
func withoutSecretArgs(args map[string]string) map[string]string {
	out := maps.Clone(args)
	for name, v := range out {
		if secretName(name) {
			v = Removed
		}
		out[name] = withoutSecrets(v)
	}
	return out
}

// withoutSecretsJSON looks at every text in a tree.
func withoutSecretsJSON(text string) string {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber() // a bigint stays what it is
	var tree any
	if err := dec.Decode(&tree); err != nil && err != io.EOF {
		return Removed // it was valid a moment ago
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(cleaned("", tree)); err != nil {
		return Removed
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxText is how many bytes of one text in a fact are told.
const maxText = 4096

// cleaned is a value, the one of a name ("" in a list's element), without secrets.
func cleaned(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if d, ok := v["name"].(string); ok && secretName(d) {
			if _, ok := v["args"]; ok { // a directive that sets a secret
				v["args"] = []any{Removed}
			}
		}
		for k := range v {
			v[k] = cleaned(k, v[k])
		}
		return v
	case []any:
		return cleanedList(name, v)
	case string:
		if secretName(name) {
			return Removed
		}
		if name == "sql" {
			v = withoutTexts(v)
		}
		if len(v) > maxText {
			v = strings.ToValidUTF8(v[:maxText], "") + "…"
		}
		return withoutSecrets(v)
	}
	return v
}

// cleanedList is a list without secrets. In the arguments of a directive, what
// stands behind a secret's name is one: proxy_set_header Authorization "…".
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
