// Package http has, beside Traefik's own files, what it takes from its fork of gorilla/mux.
package http

// routingPathKey is the key under which a request's context has the path that rules are matched against.
type routingPathKey struct{}
