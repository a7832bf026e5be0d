// Package docs holds the pages that iikanji help prints.
package docs

import "embed"

// Pages are the pages for users, by file name.
//
//go:embed access.md finalize.md history.md ladder.md lint.md method.md output.md price.md proposer.md slow.md sqlcache.md ui.md watch.md findings/*.md
var Pages embed.FS
