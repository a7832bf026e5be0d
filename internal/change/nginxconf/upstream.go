package nginxconf

import (
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// upstreamKeepalive keeps idle connections to the app open. This needs an
// upstream block with "keepalive", HTTP/1.1, and no "Connection: close", which
// nginx sends by default. If proxy_pass has an address, the upstream is made.
type upstreamKeepalive struct {
	Keepalive int    `arg:"keepalive,required" range:"1,65535" help:"how many idle connections each worker keeps"`
	To        string `arg:"to" help:"host:port or upstream of proxy_pass; all by default"`
	Requests  int    `arg:"requests" range:"1,1000000000" help:"after how many requests a connection is closed"`
	Timeout   span   `arg:"timeout" help:"after which idle time a connection is closed, as 60s"`
}

func (a *upstreamKeepalive) edit(t *task) error {
	t.Says = fmt.Sprintf("keep up to %d idle connections from each nginx worker to the app open", a.Keepalive)
	return t.EachPass(a.To, func(p nginx.Place, pass nginxedit.Passed) error {
		up := t.UpstreamFor(p, pass)
		nginxedit.SetIn(t.Conf, up, "keepalive", strconv.Itoa(a.Keepalive)) // must be after a load balancing method
		if a.Requests != 0 {
			nginxedit.SetIn(t.Conf, up, "keepalive_requests", strconv.Itoa(a.Requests))
		}
		if a.Timeout != "" {
			nginxedit.SetIn(t.Conf, up, "keepalive_timeout", string(a.Timeout))
		}
		t.KeepOpen(p.Around)
		return nil
	})
}
