// Package web has the pages of a portal. They work without script; one small script keeps them
// up to date.
//
//  1. [Pages] are the routes, for api.Server (pages.go). Each declares its need.
//  2. Templates are in templates/, styles and the script in static/ (render.go, static.go).
//  3. All words of pages are in words/en.toml and words/ja.toml (words.go): a text outside of
//     them, a missing and an unused word fail a test.
//  4. Charts are those of package show/chart (chart.go); each has a table with the same numbers.
//
// All text of teams, of sites under test and of staff is hostile: templates escape it.
package web
