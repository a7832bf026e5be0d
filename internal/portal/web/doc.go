// Package web has the pages of a portal. They work without script; one small script keeps the
// board up to date.
//
//  1. [Pages] are the routes, for api.Server (pages.go). Each declares its need.
//  2. Templates are in templates/, styles and the script in static/.
package web
