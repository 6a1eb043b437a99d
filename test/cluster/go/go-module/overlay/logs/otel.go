// Package logs has, in the place of Traefik's own file, no logs by OpenTelemetry: Traefik's uses an interface of that
// library which the versions of the other programs no longer have.
package logs

import (
	"context"
	"errors"

	"github.com/rs/zerolog"
	"github.com/traefik/traefik/v3/pkg/observability/types"
)

// SetupOTelLogger returns the logger, or an error when logs are to go to OpenTelemetry.
func SetupOTelLogger(_ context.Context, logger zerolog.Logger, config *types.OTelLog) (zerolog.Logger, error) {
	if config != nil {
		return zerolog.Logger{}, errors.New("this build of Traefik sends no logs to OpenTelemetry")
	}
	return logger, nil
}
