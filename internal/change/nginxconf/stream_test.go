package nginxconf

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/change"
)

// TestSetKeepsStreams: answers still reach clients in pieces after buffering is
// set for all others.
func TestSetKeepsStreams(t *testing.T) {
	end := make(chan struct{}, 1)
	app := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "first")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/events" {
			<-end // until the client has the first piece, or has given up
		}
	})
	const server = "server { listen 127.0.0.1:%[2]d; # %[1]s\n\tlocation / { proxy_pass http://%[3]s; }\n\tlocation /events { proxy_buffering off; proxy_pass http://%[3]s; }\n}\n"
	s := startSite(t, app, map[string]string{"conf/nginx.conf": strings.Replace(siteConf, "    include", "    proxy_buffering off;\n    include", 1), "conf/sites/a.conf": server})
	t.Cleanup(func() { end <- struct{}{} })
	c := apply(t, s, remedy("set", "directive", "proxy_buffering", "value", "on"))
	if diff := change.Diff(c); !strings.Contains(diff, "+    proxy_buffering on;") || strings.Contains(diff, "sites/a.conf") {
		t.Fatalf("it was planned\n%s", diff)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.address()+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req) // returns when the first piece is there
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "first\n" {
		t.Errorf("the first piece: %q %v", line, err)
	}
	if _, err := change.Plan(t.Context(), s.open(s.dir), remedy("set", "directive", "proxy_buffering", "value", "on")); !errors.Is(err, change.ErrNothing) {
		t.Errorf("a second time: %v", err)
	}
}
