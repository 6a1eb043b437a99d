package metrics

import (
	"context"

	"github.com/rs/zerolog/log"
	otypes "github.com/traefik/traefik/v3/pkg/observability/types"
)

// RegisterInfluxDB2 returns nil and logs an error: this build sends no metrics to InfluxDB.
func RegisterInfluxDB2(ctx context.Context, _ *otypes.InfluxDB2) Registry {
	log.Ctx(ctx).Error().Msg("This build sends no metrics to InfluxDB.")
	return nil
}

// StopInfluxDB2 has nothing to stop.
func StopInfluxDB2() {}
