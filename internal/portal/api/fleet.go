package api

import (
	"context"
	"net/http"
	"time"

	"github.com/iikanji/iikanji"
)

// A FleetPart is the profile of one part of a log of a host. Minute, Host, File and From name it:
// the same part again counts once.
type FleetPart struct {
	Token  string    `json:"token"` // of the site
	Kind   string    `json:"kind"`  // access or slow
	Host   string    `json:"host"`
	Minute time.Time `json:"minute"`
	File   string    `json:"file"` // names the file also after it was renamed
	From   int64     `json:"from"` // bytes
	To     int64     `json:"to"`   // From: nothing was logged in this minute
	// Profile is the profile as gzip; nil for a part without lines.
	Profile []byte    `json:"profile,omitempty"`
	Sent    time.Time `json:"sent"`              // by the host's clock
	Trouble string    `json:"trouble,omitempty"` // what the agent could not read
}

// A FleetHost is how a host of a site is.
type FleetHost struct {
	Host    string        `json:"host"`
	Seen    time.Time     `json:"seen"`
	Offset  time.Duration `json:"offset_ns,omitempty"` // of its clock
	Minutes int           `json:"minutes"`             // that it sent of those that were asked for
	Missing int           `json:"missing"`
	Trouble string        `json:"trouble,omitempty"`
}

// A FleetProfile is the merged profile of the hosts of a site.
type FleetProfile struct {
	Profile *iikanji.Profile `json:"profile,omitempty"` // nil without a part
	Hosts   []FleetHost      `json:"hosts"`
	Parts   int              `json:"parts"`
}

// A FleetAsk is which parts are merged: minutes of [Since, Until).
type FleetAsk struct {
	Site, Kind   string
	Since, Until time.Time
}

// FleetCalls has the profiles of many hosts.
type FleetCalls interface {
	// KeepPart keeps a part of a host that has the token of a site.
	KeepPart(ctx context.Context, p FleetPart) error
	Fleet(ctx context.Context, who Who, a FleetAsk) (*FleetProfile, error)
}

// FleetRoutes are the routes of profiles of many hosts.
func FleetRoutes(f FleetCalls) []Route {
	return []Route{
		// The token is no account: it is in the body, and looked up by the call.
		{http.MethodPost, "/fleet/v1/parts", Anyone, 6000, func(c *Call) error {
			var p FleetPart
			if err := c.Read(&p); err != nil {
				return err
			}
			return answer(c)(struct{}{}, f.KeepPart(c.R.Context(), p))
		}},
		{http.MethodGet, "/api/v1/fleet/{site}/{kind}", Staffed, 60, func(c *Call) error {
			a := FleetAsk{Site: c.R.PathValue("site"), Kind: c.R.PathValue("kind")}
			for name, at := range map[string]*time.Time{"since": &a.Since, "until": &a.Until} {
				t, err := time.Parse(time.RFC3339, c.R.URL.Query().Get(name))
				if err != nil {
					return &BadRequestError{name + ": want a time such as 2027-02-06T10:00:00Z"}
				}
				*at = t
			}
			return answer(c)(f.Fleet(c.R.Context(), c.Who, a))
		}},
	}
}
