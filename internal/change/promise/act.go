package promise

import "github.com/iikanji/iikanji"

// Index lists the promises that a change of a table's indexes weakens. sorted: an
// observed run proved that every statement that returns several rows of the
// table sorts them.
func Index(sorted bool) []iikanji.Promise {
	if sorted {
		return nil
	}
	return []iikanji.Promise{iikanji.RowOrder}
}

// Refusal lists the promises that refusing requests weakens.
func Refusal() []iikanji.Promise { return []iikanji.Promise{iikanji.Availability} }

// QuietApp lists the promises that turning off an application's log weakens.
func QuietApp() []iikanji.Promise { return []iikanji.Promise{iikanji.Observability} }

// CompressedCopies lists the promises that compressed copies beside files
// weaken: a copy stays as it is when its file changes.
func CompressedCopies() []iikanji.Promise { return []iikanji.Promise{iikanji.Freshness} }

// Fragments lists the promises that having Varnish include fragments on the way to the client
// weakens: the client gets another page than the application sent, and a command in
// text that a user wrote is obeyed, too, unless the application escapes it.
func Fragments() []iikanji.Promise { return []iikanji.Promise{iikanji.Behaviour} }
