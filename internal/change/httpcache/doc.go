// Package httpcache plans changes that put a cache of HTTP answers in front of an
// application: a Varnish behind nginx, or nginx's own cache.
//
// Steps of a plan with Varnish:
//
//  1. find the act of the remedy and decode its arguments (acts.go, varnish.go);
//  2. read nginx's configuration: which location answers the path, where it passes
//     requests on, what the app receives about a client (package nginxedit);
//  3. read the pages that the Varnish keeps already (program.go) and add the path;
//     steps 2 and 3 are repeated for each path of the remedy;
//  4. write the VCL (vcl.go) and have varnishd compile it (varnish.go);
//  5. return the files as a Change: the VCL and the enable file, a restart of the
//     Varnish, then nginx's configuration and its reload. The undo has the reverse
//     order, so that nginx never passes requests to a Varnish that is down.
//
// How a cache is kept fresh is part of the plan:
//
//   - by age alone: no answer is older than the argument valid, counted from the
//     start of the request that fetched it. It is renewed in the background from half
//     that age on;
//   - by writes too (the argument writes): every request of the app goes through the
//     Varnish, and one with another method than GET or HEAD drops all pages before
//     its answer is sent. See vcl.go on how a fetch that was under way is not kept.
//     That only such requests change the pages is not proven: it weakens the promise
//     tested-only, and freshness no more.
//
// What is easily got wrong, and is handled here:
//
//   - Varnish keeps answers with a short age in a storage without a limit; the VCL
//     names the storage with the declared limit;
//   - Varnish closes idle connections after 5 s, nginx after 60 s: a POST on such a
//     connection would be answered 502 (nginx.go);
//   - an answer with ESI has no length: a client that announces keep-alive and waits
//     for the end of the connection would hang, so nginx closes it (nginx.go);
//   - clients cannot set the headers by which the VCL works.
//
// The act nginx (nginxpages.go) keeps pages in nginx's own cache until a write, for a Go
// app. A purge of the page's file, by a module or by its removal, would miss a fetch that
// began before the write and is stored after it. So nginx has a generation in the key,
// too: the target of a symbolic link, which it reads as $realpath_root, and which the app
// renews before it answers a write (package pagegen). Such a plan
//
//  1. finds the app that answers the paths, and refuses a site on which something else
//     may change the pages;
//  2. wraps the app's handlers in a copy of its source, and builds it (appsource.go);
//  3. adds the cache, its key, and a bypass for requests that find no generation.
//
// The app is restarted before nginx keeps anything; the undo has the reverse order. A
// write drops all pages, or those of a table (drops.go) that the app's own notes justify
// (rule WEB117).
//
// The act direct takes a Varnish out again (direct.go), for a site that goes on with
// another cache.
//
// The package sends no request. Whether an answer is the same for all clients is
// proven by the observed run; package promise computes what is weakened without.
package httpcache
