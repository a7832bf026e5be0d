// Package nginxconf plans changes of nginx's configuration: lossless edits of
// the files that are there, so that comments, order and spacing stay, and
// undoing is writing the old bytes back.
//
// It does not know what would help (diagnose does) and writes nothing: the
// plan is judged by `nginx -t` on a flattened copy before it is handed out.
//
// Steps of a plan:
//
//  1. load the main file and what it includes as token trees (parse.go, tree.go);
//  2. edit the trees as the remedy's "act" says (upstream.go, static.go, settings.go);
//  3. have nginx read the result (kind.go);
//  4. return the changed files as a Change with a reload.
package nginxconf
