package livesite

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/site/target"
)

// TestAskSite: a site is asked by its name at the address where its web server listens,
// and a URL without TLS at a port with TLS is refused.
func TestAskSite(t *testing.T) {
	status, host := http.StatusOK, ""
	site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host = r.Host
		w.WriteHeader(status)
	}))
	defer site.Close()
	u, err := url.Parse(site.URL)
	if err != nil {
		t.Fatal(err)
	}
	name := net.JoinHostPort("shop.invalid", u.Port())
	f := &target.File{URL: "https://" + name, Services: []target.Service{{Name: "job"}, {Name: "web", Listen: "0.0.0.0:" + u.Port()}}}
	s := placedAs(&Subject{options: Options{File: f}})
	s.connect()
	if err := s.AskSite(t.Context()); err != nil || host != name {
		t.Errorf("by its name: %v, host %q", err, host)
	}
	status = http.StatusBadGateway
	if err := s.AskSite(t.Context()); err == nil {
		t.Error("status 502 is an answer")
	}
	status = http.StatusOK
	f.URL = "http://" + name
	var over *OverTLSError
	if err := s.AskSite(t.Context()); !errors.As(err, &over) || !slices.Equal(over.Hints(), []string{`write url = "https://` + name + `"`}) {
		t.Errorf("without TLS: %v", err)
	}
	f.URL, f.Services = "https://"+name, nil
	if err := s.AskSite(t.Context()); err == nil {
		t.Error("a name that leads nowhere answers")
	}
}
