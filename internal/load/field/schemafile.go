package field

import (
	"context"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// WhichFile is the hook of a search for a change that could be made in several schema
// files. Initialize runs once with the general log on; the file whose CREATE TABLE it
// executes is chosen. ok is false if this does not identify one file.
func (f *Field) WhichFile(ctx context.Context, refused *change.WhichFileError) (r iikanji.Remedy, ok bool, err error) {
	service, _ := f.Subject.Target().Service(refused.Service)
	slow, db := service.LogPath("slow"), f.Subject.Site().Services[service.Name].DB()
	if slow == "" || db == nil {
		return iikanji.Remedy{}, false, nil
	}
	h, err := f.Subject.Site().On(service.Host)
	if err != nil {
		return iikanji.Remedy{}, false, fmt.Errorf("finding the schema file that initialize executes: %w", err)
	}
	executed, err := observe.Executed(ctx, h, db, slow, func() error { return f.Initialize(ctx) })
	if err != nil {
		return iikanji.Remedy{}, false, fmt.Errorf("finding the schema file that initialize executes: %w", err)
	}
	chosen, err := refused.Choose(ctx, executed)
	return chosen, err == nil, nil // without a choice the remedy stays refused
}
