//go:build tools

// Pins the module of metrics-server; it is built by its package path.
package tools

import _ "sigs.k8s.io/metrics-server/cmd/metrics-server"
