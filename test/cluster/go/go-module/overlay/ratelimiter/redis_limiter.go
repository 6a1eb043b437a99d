package ratelimiter

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"
	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	"golang.org/x/time/rate"
)

func newRedisLimiter(context.Context, rate.Limit, int64, time.Duration, int, dynamic.RateLimit, *zerolog.Logger) (limiter, error) {
	return nil, errors.New("this build has no rate limits in Redis")
}
