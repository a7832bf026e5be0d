package pagegen

import "embed"

// Source is the package's own source, which an app's source gets a copy of. This file is
// not among it.
//
//go:embed bucket.go doc.go handler.go held.go learn.go plan.go report.go store.go
var Source embed.FS
