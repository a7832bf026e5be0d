package sqlcache

import "embed"

// Source is the package's own source, which an app's source gets a copy of. This
// file is not among it.
//
//go:embed batch.go cache.go conn.go doc.go file.go fold.go lost.go metrics.go ofonetable.go parents.go plan.go prepared.go rows.go slot.go statement.go store.go transaction.go value.go
var Source embed.FS
