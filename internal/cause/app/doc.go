// Package app has the rules about the app: its CPU time, its processes, its log, and the places in its source.
package app
