// Package pagegen distinguishes pages of a Go app that a web server keeps from those of before a
// write. It is copied into the app; it imports the standard library only.
//
// Every page has a generation: the name of a folder, to which a symbolic link in
// Plan.Folder points. The web server reads the link for each request, nginx as
// $realpath_root, and has the name in the key of its cache. A write makes new folders and
// links to them after the app has computed its answer and before the answer is sent. A
// request that begins after the answer has another key: it finds no page from before the
// write, also not one that was computed meanwhile and is stored later. Removing the
// page's file would miss such a page.
//
//   - store.go: the folder and the links;
//   - bucket.go: which link a page has;
//   - handler.go: what runs around the app's handlers;
//   - held.go: an answer that is sent after the pages were dropped;
//   - learn.go: which pages a write changes, seen from the pages that the app computes;
//   - report.go: the file with what was learned.
//
// A write is a request with another method than GET, HEAD, OPTIONS and TRACE. Without a
// row in Plan.Table it drops all pages.
package pagegen
