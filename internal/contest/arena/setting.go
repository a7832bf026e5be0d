package arena

import (
	"fmt"
	"net/url"
	"strings"
)

// A Setting is an option that an arena declares: for its benchmarker, or for
// one of its commands. Users give it as "--set NAME=VALUE" or "--NAME VALUE".
type Setting struct {
	Name    string // lower case and "-", as in "mail-url"
	Help    string // one sentence
	Kind    SettingKind
	Default string // as shown in the help; the arena applies it to an empty value
}

// A SettingKind is the form of a setting's value.
type SettingKind int

// Kinds of settings.
const (
	Text    SettingKind = iota
	Address             // HOST:PORT to listen on; an invalid one is reported by the listener
	URL                 // http:// or https://
	File                // path of a file
)

// Placeholder is the word for a value in the help.
func (k SettingKind) Placeholder() string {
	switch k {
	case Address:
		return "HOST:PORT"
	case URL:
		return "URL"
	case File:
		return "FILE"
	default:
		return "VALUE"
	}
}

// Values are the values of settings by name. A missing or empty value means the
// setting's default.
type Values map[string]string

// Resolve checks texts of the form NAME=VALUE against the declared settings.
// The last text of a name wins.
func Resolve(declared []Setting, texts []string) (Values, error) {
	values := Values{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("setting %.100q is not NAME=VALUE", text)
		}
		s, ok := findSetting(declared, name)
		if !ok {
			return nil, fmt.Errorf("unknown setting %.100q; the settings are: %s", name, settingNames(declared))
		}
		if s.Kind == URL && value != "" {
			if u, err := url.Parse(value); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				return nil, fmt.Errorf("setting %s: %.100q is not http://HOST[:PORT] or https://HOST[:PORT]", name, value)
			}
		}
		values[name] = value
	}
	return values, nil
}

func findSetting(declared []Setting, name string) (Setting, bool) {
	for _, s := range declared {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// settingNames lists the names of settings for an error.
func settingNames(declared []Setting) string {
	if len(declared) == 0 {
		return "none"
	}
	names := make([]string, len(declared))
	for i, s := range declared {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}
