// Package nginxconf plans changes of nginx's configuration. The edits keep
// comments, order and spacing, so undoing is writing the old bytes back.
//
// It does not decide what would help (package diagnose does). It writes nothing
// but a scratch copy, which nginx -t must accept before a plan is returned. It
// does not send requests to the app: whether an answer is the same for all
// clients is the caller's knowledge, and the checks of a run prove it.
//
// Steps of a plan:
//
//  1. find the act of the remedy and decode its arguments (acts.go);
//  2. load the main file and what it includes (package nginxedit);
//  3. find the location that answers a path now, by nginx's rules, and give the
//     path a location of its own that does the same (package nginxedit);
//  4. edit the trees (one file per subject: upstream.go, socket.go, static.go,
//     gzip.go, expires.go, cache.go, buffers.go, workers.go, openfiles.go,
//     accesslog.go, useragents.go, settings.go);
//  5. test the result with nginx (nginxedit/plan.go);
//  6. return the changed files as a Change with a reload.
//
// What is easily got wrong, and is handled here:
//
//   - a block with one proxy_set_header or add_header of its own inherits none;
//   - a location that passes requests on and ends in "/" makes nginx redirect
//     the path without the slash;
//   - a new name in proxy_pass changes the default Host and proxy_redirect;
//   - locations inside the longest prefix are searched first, expressions in the
//     order of the file;
//   - a file that is included in several places is edited for all of them
//     (nginxedit/plan.go, upstream.go);
//   - a cached answer is given to other clients: its key needs all that the app
//     receives about a client (nginxedit/sharedanswer.go);
//   - a file answers 405 to a POST that the app would have accepted;
//   - proxy_cache_valid counts whole seconds of the clock, so "1s" can be two,
//     and the app's own headers overrule it;
//   - nginx goes on with its old workers, or with an old limit of descriptors, and
//     only logs that: what runs is read back (inforce.go, nginxedit/inforce.go).
package nginxconf
