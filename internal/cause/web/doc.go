// Package web has the rules about web servers: what they pass on, keep, compress and log.
package web
