//go:build tools

// Pins the module of osv-scanner; it is built by its package path.
package tools

import _ "github.com/google/osv-scanner/v2/cmd/osv-scanner"
