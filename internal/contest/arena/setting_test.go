package arena

import (
	"maps"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	declared := []Setting{{Name: "listen", Kind: Address}, {Name: "base-url", Kind: URL}, {Name: "key", Kind: File}, {Name: "word"}}
	got, err := Resolve(declared, []string{"listen=nowhere", "word=a", "base-url=https://h:1/p?q=1", "word=b=c", "key="})
	if want := (Values{"listen": "nowhere", "word": "b=c", "base-url": "https://h:1/p?q=1", "key": ""}); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if got, err := Resolve(nil, nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"word": "not NAME=VALUE", "": "not NAME=VALUE", "other=1": "listen, base-url, key, word", "base-url=ftp://h": "http://HOST", "base-url=h:80": "http://HOST", "base-url=http:///p": "http://HOST"} {
		if got, err := Resolve(declared, []string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error with %q", text, got, err, want)
		}
	}
	if _, err := Resolve(nil, []string{"a=b"}); err == nil || !strings.Contains(err.Error(), "the settings are: none") {
		t.Errorf("nothing declared: %v", err)
	}
}

func TestPlaceholder(t *testing.T) {
	seen := map[string]SettingKind{}
	for _, k := range []SettingKind{Text, Address, URL, File} {
		if other, taken := seen[k.Placeholder()]; taken {
			t.Errorf("kinds %d and %d have the placeholder %s", k, other, k.Placeholder())
		}
		seen[k.Placeholder()] = k
	}
}
