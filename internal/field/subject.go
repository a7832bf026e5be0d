package field

import (
	"context"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// A Subject is a site that can be changed, restarted and watched.
type Subject interface {
	// Target describes the site with its processes of this moment.
	Target() iikanji.Target
	// Site is what kinds of change read and the executor changes.
	Site() *change.Site
	// URL is where the site answers.
	URL() string
	// Groups are the ids of the root processes of each service that runs now,
	// by the service's name.
	Groups() map[string][]int
	// Restart stops a service, starts it and waits until it answers. A service
	// that is down is started.
	Restart(ctx context.Context, service string) error
	// Refresh restarts a service so that it runs what its files hold now: an
	// app whose source has changed is built before.
	Refresh(ctx context.Context, service string) error
	// Kill ends every process of every service with SIGKILL and returns when
	// they are gone.
	Kill(ctx context.Context) error
	// Deaths collects the services that end without being asked to.
	Deaths() *Deaths
}
