package observe

import "testing"

// TestBaseOf: a web server is requested by the name of the site, and over TLS where the
// site's clients do.
func TestBaseOf(t *testing.T) {
	for _, c := range []struct{ site, address, want string }{
		{"http://127.0.0.1:8080", "127.0.0.1:8080", "http://127.0.0.1:8080"},
		{"http://shop.example", "127.0.0.1:80", "http://shop.example"},
		{"https://shop.example", "0.0.0.0:443", "https://shop.example"},
		{"https://shop.example:8443/x", "127.0.0.1:8443", "https://shop.example:8443"},
		{"https://shop.example", "127.0.0.1:8081", "http://shop.example:8081"}, // behind another server
		{"", "127.0.0.1:80", "http://127.0.0.1:80"},
		{"http://shop.example", "nonsense", "http://nonsense"},
	} {
		if got := baseOf(c.site, c.address); got != c.want {
			t.Errorf("%s at %s: %s, want %s", c.site, c.address, got, c.want)
		}
	}
}
