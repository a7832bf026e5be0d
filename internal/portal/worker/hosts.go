package worker

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
)

const (
	hostsEvery = 10 * time.Second
	hostLimit  = 5 * time.Second // of one check
	mostAnswer = 64 << 10        // bytes of an answer
	// clockLimit is how far a host's clock may be off: logs and tokens of a site are wrong then.
	clockLimit = 5 * time.Second
	// atOnce is how many hosts are checked at the same time.
	atOnce = 8
)

// checkHosts checks the hosts that the portal names, until ctx ends.
func (w *Worker) checkHosts(ctx context.Context) {
	for ctx.Err() == nil {
		var due []api.HostCheck
		_, err := w.client.call(ctx, "hosts", beatLimit, api.Next{Worker: w.id}, &due)
		if err == nil && len(due) > 0 {
			done := api.HostsChecked{Worker: w.id, Results: w.checkAll(ctx, due)}
			_, err = w.client.call(ctx, "checked", beatLimit, done, &struct{}{})
		}
		if err != nil && ctx.Err() == nil {
			w.o.Log.Debug("checking hosts", "error", err)
		}
		pause(ctx, w.interval(hostsEvery))
	}
}

func (w *Worker) checkAll(ctx context.Context, due []api.HostCheck) []api.HostResult {
	out := make([]api.HostResult, len(due))
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range due {
		slots <- struct{}{}
		all.Go(func() {
			out[i] = w.checkHost(ctx, &due[i])
			<-slots
		})
	}
	all.Wait()
	return out
}

// refuse checks the target of a job before the run; "" if it may be loaded.
func (w *Worker) refuse(ctx context.Context, a *api.Assignment) string {
	if problem := w.forbidden(a.Target, a.Local); problem != "" {
		return problem
	}
	if a.Check == nil {
		return ""
	}
	if r := w.checkHost(ctx, a.Check); r.Problem != "" {
		return fmt.Sprintf("host %s: %s", a.Check.Name, r.Problem)
	}
	return ""
}

// forbidden is why an address must not be loaded by anybody: the worker's own ones and the
// portal's, those of this machine alone, and those that are none of a host. "" if it may be.
func (w *Worker) forbidden(target string, local bool) string {
	at, err := addressOf(target)
	if err != nil {
		return err.Error()
	}
	ip := at.Addr()
	if local && ip.IsLoopback() {
		return ""
	}
	if ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || !ip.IsValid() {
		return fmt.Sprintf("%s is no address of a team's host", ip)
	}
	if u, err := url.Parse(w.o.URL); err == nil {
		if p, err := netip.ParseAddr(u.Hostname()); err == nil && p.Unmap() == ip {
			return fmt.Sprintf("%s is the portal's address", ip)
		}
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return "the worker cannot read its own addresses: " + err.Error()
	}
	for _, o := range own {
		if p, err := netip.ParsePrefix(o.String()); err == nil && p.Addr().Unmap() == ip {
			return fmt.Sprintf("%s is an address of the worker", ip)
		}
	}
	return ""
}

// checkHost asks one host.
func (w *Worker) checkHost(ctx context.Context, c *api.HostCheck) api.HostResult {
	r := api.HostResult{Host: c.Host}
	if r.Problem = w.forbidden(c.Target, c.Local); r.Problem != "" {
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, hostLimit)
	defer cancel()
	err := errors.New("an unknown way to check a host")
	switch c.Way {
	case api.ByAgent:
		err = askAgent(ctx, c, &r)
	case api.ByPath:
		err = askPath(ctx, c, &r)
	case api.ByStaff:
		err = reach(ctx, c.Target)
	}
	if err != nil {
		r.Problem = err.Error()
	}
	if r.Problem == "" && r.Offset.Abs() > clockLimit {
		r.Problem = fmt.Sprintf("its clock is %s off: synchronise it", r.Offset.Round(time.Millisecond))
	}
	return r
}

// reach opens a connection to a target.
func reach(ctx context.Context, target string) error {
	at, err := addressOf(target)
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.String())
	if err != nil {
		return fmt.Errorf("%s cannot be reached", at)
	}
	return conn.Close()
}

// A got is the answer of a host.
type got struct {
	status int
	text   []byte
	header http.Header
	took   time.Duration
}

// get reads a page of a host: from its address, whatever a name says, without a redirect,
// without decompression, and not more than mostAnswer bytes. agent is the User-Agent; "" for none.
func get(ctx context.Context, address, agent string) (*got, error) {
	at, err := addressOf(address)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true, MaxResponseHeaderBytes: 16 << 10,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", at.String())
		}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("its address: %w", err)
	}
	if agent != "" {
		r.Header.Set("User-Agent", agent)
	}
	sent := time.Now()
	res, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("no answer from %s", at)
	}
	defer res.Body.Close()
	took := time.Since(sent)
	text, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("no whole answer from %s", at)
	case len(text) > mostAnswer:
		return nil, fmt.Errorf("the answer of %s is longer than %d bytes", at, mostAnswer)
	}
	return &got{res.StatusCode, text, res.Header, took}, nil
}

// getOK is get for a page that has to be there.
func getOK(ctx context.Context, address string) (*got, error) {
	g, err := get(ctx, address, "")
	if err == nil && g.status != http.StatusOK {
		at, _ := addressOf(address) // get has read it
		return nil, fmt.Errorf("%s answered %d", at, g.status)
	}
	return g, err
}

// askAgent asks the agent on the host for its proof.
func askAgent(ctx context.Context, c *api.HostCheck, r *api.HostResult) error {
	g, err := getOK(ctx, c.Agent+api.AgentPath+"?nonce="+url.QueryEscape(c.Nonce))
	if err != nil {
		return err
	}
	now := time.Now()
	var said struct {
		Answer, Boot string
		Now          time.Time
	}
	if err := json.Unmarshal(g.text, &said); err != nil {
		return errors.New("its agent's answer cannot be read")
	}
	if subtle.ConstantTimeCompare([]byte(said.Answer), []byte(c.Want)) != 1 {
		r.Stranger = true
		return errors.New("the machine at its address is another one")
	}
	r.Proven, r.Boot, r.Offset = true, said.Boot, said.Now.Sub(now.Add(-g.took/2))
	return nil
}

// askPath reads the text at the well-known path of the site. Its clock is that of the header
// Date, in whole seconds.
func askPath(ctx context.Context, c *api.HostCheck, r *api.HostResult) error {
	g, err := getOK(ctx, strings.TrimSuffix(c.Target, "/")+api.HostPath)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(bytes.TrimSpace(g.text), []byte(c.Want)) != 1 {
		r.Stranger = true
		return fmt.Errorf("the site does not answer the team's text at %s", api.HostPath)
	}
	r.Proven = true
	if date, err := http.ParseTime(g.header.Get("Date")); err == nil {
		if r.Offset = time.Until(date); r.Offset > -2*time.Second && r.Offset < time.Second {
			r.Offset = 0 // within the resolution
		}
	}
	return nil
}
