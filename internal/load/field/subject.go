package field

import (
	"context"
	"errors"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// ErrNoRestart is the error of a service that could not be started again as it was found.
// It was left as it was.
var ErrNoRestart = errors.New("it cannot be restarted")

// A Subject is a site that can be changed, restarted and observed.
type Subject interface {
	// Target describes the site with its present processes.
	Target() iikanji.Target
	// Site is the interface of kinds of change and of the executor to the site.
	Site() *change.Site
	// URL is the URL of the site.
	URL() string
	// Groups returns the ids of the root processes of each running service, by the
	// service's name.
	Groups() map[string][]int
	// Restart stops a service, starts it and waits until it answers. A service
	// that is down is started. The error wraps ErrNoRestart if no safe way is known.
	Restart(ctx context.Context, service string) error
	// Refresh restarts a service with the present content of its files: an app with a
	// changed source is built first.
	Refresh(ctx context.Context, service string) error
	// Kill sends SIGKILL to every process of every service and returns when they have
	// ended. It kills none, and its error wraps ErrNoRestart, if one could not be started
	// again.
	Kill(ctx context.Context) error
	// Deaths collects the services that end unexpectedly.
	Deaths() *Deaths
}
