package errorlog

import "strings"

// Kinds of messages whose meaning is known; rules of diagnose rely on them.
const (
	BodySpilled     = "body-spilled"           // a request's body went to a temporary file
	AnswerSpilled   = "answer-spilled"         // an answer of the app did
	NoConnections   = "connections-exhausted"  // worker_connections are used up
	NoDescriptors   = "descriptors-exhausted"  // EMFILE, ENFILE
	NoPorts         = "ports-exhausted"        // EADDRNOTAVAIL
	BacklogFull     = "backlog-full"           // EAGAIN of a unix socket: the app's queue was full
	UpstreamTimeout = "upstream-timeout"       // the app did not answer in time: 504
	UpstreamRefused = "upstream-refused"       // nobody listened: 502
	UpstreamClosed  = "upstream-closed"        // the app hung up: 502
	NoUpstream      = "upstream-none"          // all were marked as failed: 502
	HeaderTooBig    = "answer-header-too-big"  // 502
	BodyTooBig      = "request-body-too-large" // 413
	DiskFull        = "disk-full"              // ENOSPC
	TooManyClients  = "database-connections"   // the database refused a connection
	Deadlock        = "deadlock"
	LockTimeout     = "lock-timeout"
	Panic           = "panic"
	Request         = "request" // one line for each request: an access log
)

// requestLine is the message of a line that is nothing but a request.
const requestLine = "a request"

// known are the words by which messages are recognised, in the order in which
// they are tried: the reason before its consequence.
var known = []struct{ words, kind string }{
	{"a client request body is buffered to a temporary file", BodySpilled},
	{"an upstream response is buffered to a temporary file", AnswerSpilled},
	{"worker_connections are not enough", NoConnections},
	{"worker_connections exceed open file resource limit", NoDescriptors},
	{"oo many open files", NoDescriptors},
	{"annot assign requested address", NoPorts},
	{"failed (11: Resource temporarily unavailable)", BacklogFull},
	{"upstream timed out", UpstreamTimeout},
	{"failed (111: Connection refused)", UpstreamRefused},
	{"upstream prematurely closed connection", UpstreamClosed},
	{"no live upstreams", NoUpstream},
	{"upstream sent too big header", HeaderTooBig},
	{"client intended to send too large body", BodyTooBig},
	{"o space left on device", DiskFull},
	{"Too many connections", TooManyClients},
	{"Deadlock found when trying to get lock", Deadlock},
	{"Lock wait timeout exceeded", LockTimeout},
	{"panic: ", Panic},
	{"panic recovered", Panic},
}

// kindOf finds the kind of a message as it was written.
func kindOf(p parsed) string {
	for _, k := range known {
		if strings.Contains(p.message, k.words) {
			return k.kind
		}
	}
	if p.message == requestLine || p.request != "" && p.request == p.message {
		return Request
	}
	return ""
}
