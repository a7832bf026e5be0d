// Package nginxconf plans changes of nginx's configuration: lossless edits of
// the files that are there, so that comments, order and spacing stay, and
// undoing is writing the old bytes back.
//
// It does not know what would help (diagnose does) and writes nothing but a
// scratch copy: the plan is judged by `nginx -t` on it before it is handed out.
// It does not talk to the app: whether an answer is the same for everyone, or a
// file the app's own answer, is for whoever asks to know, and for the checks of
// a run to prove.
//
// Steps of a plan:
//
//  1. load the main file and what it includes as token trees (parse.go, tree.go);
//  2. find the location that answers a path now, as nginx does, and give the
//     path one of its own that does the same (location.go, effect.go);
//  3. edit the trees as the remedy's "act" says (one file per subject: upstream.go,
//     socket.go, static.go, compress.go, expires.go, cache.go, buffers.go,
//     workers.go, logs.go, agents.go, settings.go);
//  4. have nginx read the result (kind.go);
//  5. return the changed files as a Change with a reload.
//
// What is easily got wrong, and is taken care of:
//
//   - a block with one proxy_set_header or add_header of its own inherits none;
//   - a location that is passed on and ends in "/" makes nginx redirect the
//     path without it;
//   - a new name in proxy_pass changes the default Host and proxy_redirect;
//   - locations inside others are searched first, expressions in the file's order;
//   - a file that several places include is edited for all of them (task.go,
//     upstream.go);
//   - an answer that is kept is given to others: its key needs all that the app
//     is told of who asks (cachekey.go);
//   - a file answers 405 to a POST that the app would have taken;
//   - proxy_cache_valid counts whole seconds of the clock, so that "1s" is up to
//     two, and the app's own headers overrule it.
package nginxconf
