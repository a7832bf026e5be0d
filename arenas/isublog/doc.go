// Package isublog is the arena of the first contest of the series (2011): a small
// public blog whose pages are alike for every visitor. A sidebar on each page lists
// the articles with the newest comments, and a comment must be visible everywhere
// within one second. It is rebuilt from public descriptions and contains no code
// and no content of the original.
//
// The package holds the contest (app, data, static files, web server configuration)
// and its benchmarker. It neither starts services (package stack) nor measures
// (package bench).
//
//  1. arena.go registers the arena and lists its parts.
//  2. files/ is copied into the work folder as webapp/: the slow app and its surroundings.
//  3. data*.go generate the initial data, and static*.go the static files.
//  4. scenario.go is the benchmarker: prepare.go checks the target and posts an article, hammer*.go are the load,
//     poster.go and content.go check the pages meanwhile, page.go reads pages.
package isublog
