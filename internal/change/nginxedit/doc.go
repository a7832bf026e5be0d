// Package nginxedit plans edits of nginx's configuration for the kinds of change
// that make them: nginxconf and httpcache. It keeps comments, order and spacing.
//
// A Plan (plan.go) is one reading of a service's configuration (config.go), the
// edits of it, and the promises that they weaken. Finish has nginx test the result
// and returns the files to write.
//
//	location.go      the location that answers a path (lang/nginx tells), and a
//	                 location of its own for the path
//	inherit.go       new directives that hide no others
//	samevalue.go     arguments that mean the same
//	passed.go        addresses and upstreams that requests are passed on to
//	sharedanswer.go  answers that several clients may share
//	cacheslice.go    slices of time in the key of a cache
//	disk.go          files of the service's host
//
// The package decides nothing about gains, sends no request, and writes nothing but
// a scratch copy of the configuration.
package nginxedit
