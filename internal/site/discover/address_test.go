package discover

import (
	"slices"
	"testing"
)

func TestAddressesIn(t *testing.T) {
	for value, want := range map[string][]string{
		"127.0.0.1:6379":                {"127.0.0.1:6379"},
		"[::1]:11211":                   {"[::1]:11211"},
		"redis://:secret@cache:6380/0":  {"cache:6380"},
		"redis://localhost":             {"localhost:6379"},
		"https://api.example/v1":        {"api.example:443"},
		"10.0.0.1:11211,10.0.0.2:11211": {"10.0.0.1:11211", "10.0.0.2:11211"},
		"production":                    nil,
		":8080":                         nil,
		"a:b":                           nil,
		"12:345678":                     nil,
		"user:pw@tcp(127.0.0.1:3306)/x": nil, // a DSN is read elsewhere
		"file:///srv/x":                 nil,
		"/usr/local/bin:/usr/bin":       nil,
	} {
		if got := addressesIn(value); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
	got := hostsAndPorts([]string{"CACHE_PORT=6379", "CACHE_HOST=cache", "DB_HOST=db", "X_PORT=1"})
	if len(got) != 1 || got[0] != (namedAddress{"CACHE_HOST and CACHE_PORT", "cache:6379"}) {
		t.Errorf("pairs: %v", got)
	}
}

func FuzzAddressesIn(f *testing.F) {
	for _, s := range []string{"127.0.0.1:6379", "redis://:x@cache:1/0", "[::1]:1,a b;c:2", "http://[", "::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := addressesIn(s); len(got) > mostAddresses {
			t.Errorf("%d addresses", len(got))
		}
	})
}
