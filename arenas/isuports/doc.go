// Package isuports is the arena of the ISUCON 12 qualifier: rankings for many
// tenants, each with an SQLite file of its own beside one admin database.
package isuports
