package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/netip"
	"time"
)

// HostPath is where a site may prove that its host is the team's, where no agent runs.
const HostPath = "/.well-known/iikanji-host"

// AgentPath is where the agent of a host answers a check.
const AgentPath = "/iikanji-host"

// HostAnswer is the proof of who has a host's token: the HMAC-SHA-256 of a nonce, as hex. key is
// the digest of the token, which the portal keeps.
func HostAnswer(key, nonce string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(nonce))
	return hex.EncodeToString(mac.Sum(nil))
}

// A NewHost is a team's wish to register a machine.
type NewHost struct {
	Team    string `json:"team,omitempty"` // staff names it; else the caller's
	Name    string `json:"name"`
	Address string `json:"address"` // as in http://10.20.0.3:80
}

// A MadeHost is a registered machine with the two ways to prove that it is the team's. Token is
// shown once; registering the name again makes another one.
type MadeHost struct {
	Host  string `json:"host"`
	Token string `json:"token"` // for `iikanji portal join`
	Path  string `json:"path"`  // or: the site answers Text at Path
	Text  string `json:"text"`
}

// HostFacts describe a machine. They are public to its team and to staff.
type HostFacts struct {
	Name   string    `json:"name"`
	System string    `json:"system"`
	Kernel string    `json:"kernel"`
	CPU    int       `json:"cpu"`
	Memory int64     `json:"memory"` // bytes
	Swap   int64     `json:"swap"`
	Free   int64     `json:"free"` // bytes of the root file system
	Now    time.Time `json:"now"`
}

// A HostBeat is what the agent of a host tells the portal every few seconds.
type HostBeat struct {
	Token string    `json:"token"`
	Port  int       `json:"port"` // where the agent answers checks
	Boot  string    `json:"boot"` // the kernel's boot id
	Keys  []string  `json:"keys"` // public SSH host keys
	Facts HostFacts `json:"facts"`
}

// A HostBeatAnswer is what became of the host so far.
type HostBeatAnswer struct {
	Host    string    `json:"host"`
	Name    string    `json:"name"`
	Proven  bool      `json:"proven"`
	Problem string    `json:"problem,omitempty"`
	Now     time.Time `json:"now"`
}

// Ways of a check.
const (
	ByAgent = "agent" // Agent answers Want for Nonce
	ByPath  = "path"  // the site answers Want at HostPath
	ByStaff = "staff" // staff vouches for the host: it has to be reachable
)

// A HostCheck is one question to a host. Workers ask it: they are where the load comes from.
type HostCheck struct {
	Host   string `json:"host"`
	Name   string `json:"name"`
	Way    string `json:"way"`
	Target string `json:"target"`          // URL of the site
	Agent  string `json:"agent,omitempty"` // URL of the agent
	Nonce  string `json:"nonce,omitempty"`
	Want   string `json:"want,omitempty"`
	Local  bool   `json:"local,omitempty"`
}

// A HostResult is what a check showed. Problem is "" if the host may be loaded.
type HostResult struct {
	Host     string        `json:"host"`
	Problem  string        `json:"problem,omitempty"`
	Proven   bool          `json:"proven"`             // the right answer came from its address
	Stranger bool          `json:"stranger,omitempty"` // a wrong answer came
	Boot     string        `json:"boot,omitempty"`
	Offset   time.Duration `json:"offset_ns,omitempty"` // of its clock
}

// A HostCalls has the acts on hosts.
type HostCalls interface {
	// Hosts are those of the caller's team; for staff those of all teams.
	Hosts(ctx context.Context, who Who, round string) ([]Host, error)
	AddHost(ctx context.Context, who Who, round string, h NewHost) (*MadeHost, error)
	RemoveHost(ctx context.Context, who Who, round, host string) error
	// HostBeat is of a machine with the token of a host; from is its address.
	HostBeat(ctx context.Context, b HostBeat, from netip.Addr) (*HostBeatAnswer, error)
	DueHosts(ctx context.Context, worker string) ([]HostCheck, error)
	Checked(ctx context.Context, worker string, results []HostResult) error
}

// HostRoutes are the routes of hosts.
func HostRoutes(h HostCalls) []Route {
	return []Route{
		{"GET", "/api/v1/rounds/{round}/hosts", Login, 0, func(c *Call) error {
			hosts, err := h.Hosts(c.R.Context(), c.Who, c.R.PathValue("round"))
			if hosts == nil {
				hosts = []Host{}
			}
			return answer(c)(hosts, err)
		}},
		{"POST", "/api/v1/rounds/{round}/hosts", Login, 20, func(c *Call) error {
			var n NewHost
			if err := c.Read(&n); err != nil {
				return err
			}
			return answer(c)(h.AddHost(c.R.Context(), c.Who, c.R.PathValue("round"), n))
		}},
		{"DELETE", "/api/v1/rounds/{round}/hosts/{host}", Login, 20, func(c *Call) error {
			return answer(c)(struct{}{}, h.RemoveHost(c.R.Context(), c.Who, c.R.PathValue("round"), c.R.PathValue("host")))
		}},
		// The token of a host is no account: it is in the body, and looked up by the call.
		// Many hosts may have one address, behind a proxy or on one machine.
		{"POST", "/api/v1/host/beat", Anyone, 6000, func(c *Call) error {
			var b HostBeat
			if err := c.Read(&b); err != nil {
				return err
			}
			from, err := netip.ParseAddr(addressOf(c.R))
			if err != nil {
				return &BadRequestError{"the caller has no address"}
			}
			return answer(c)(h.HostBeat(c.R.Context(), b, from.Unmap()))
		}},
		{http.MethodPost, "/worker/v1/hosts", Machine, 0, func(c *Call) error {
			var n Next
			if err := c.Read(&n); err != nil {
				return err
			}
			checks, err := h.DueHosts(c.R.Context(), n.Worker)
			if checks == nil {
				checks = []HostCheck{}
			}
			return answer(c)(checks, err)
		}},
		{http.MethodPost, "/worker/v1/checked", Machine, 0, func(c *Call) error {
			var body HostsChecked
			if err := c.Read(&body); err != nil {
				return err
			}
			return answer(c)(struct{}{}, h.Checked(c.R.Context(), body.Worker, body.Results))
		}},
	}
}

// HostsChecked are the results of a worker's checks.
type HostsChecked struct {
	Worker  string       `json:"worker"`
	Results []HostResult `json:"results"`
}
