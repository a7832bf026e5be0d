package isucondition

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
)

// Services that only the app in Node.js has. They run on demand: a rung of its ladder
// starts each, and the app does not use them before.
const (
	queue     = "queue"
	documents = "documents"
)

// nodeServices are the app in JavaScript, and what a team added to it: a queue for
// reports that are stored later, and a document store for the conditions.
var nodeServices = []arena.Service{
	{
		Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineNode,
		Source: "node",
		// build.js checks the syntax and calls npm, which is not needed later.
		Build: []string{"node", "build.js"},
		Start: []string{"node", "server.js"},
		Env:   nodeEnv, Load: "sql/init.sh", Programs: []string{"mariadb", "npm"},
	},
	{
		Name: queue, Role: iikanji.RoleQueue, Engine: iikanji.EngineRedis,
		OnDemand: true,
	},
	{
		// FerretDB in a program of ours. iikanji does not look into this engine, because
		// its statements are not SQL, and its source is not an app to tune. The build tag
		// leaves out the backend for PostgreSQL, whose driver is a sixth of the compilation.
		Name: documents, Role: iikanji.RoleDatabase, Engine: "ferretdb",
		Source:   "docstore",
		Build:    []string{"go", "build", "-mod=readonly", "-buildvcs=false", "-tags=ferretdb_no_postgresql", "-ldflags=-s -w", "-o", "{{.Out}}", "."},
		Start:    []string{"{{.Self.Binary}}"},
		Data:     "documents",
		Env:      documentsEnv,
		OnDemand: true,
	},
}

// nodeEnv returns all environment variables that the app in Node.js reads. The address
// of the document store may be that of any MongoDB: a line of conf/app.env replaces it.
func nodeEnv(p arena.Places) []string {
	return append(appEnv(p),
		"NODE_ENV=production",
		"QUEUE_URL=redis://"+p.Service(queue).Address,
		fmt.Sprintf("CONDITION_STORE_URL=mongodb://%s/isucondition", p.Service(documents).Address),
	)
}

// documentsEnv returns the environment of the document store.
func documentsEnv(p arena.Places) []string {
	self := p.Service(documents)
	return []string{"DOCSTORE_ADDRESS=" + self.Address, "DOCSTORE_DIR=" + self.Data}
}
