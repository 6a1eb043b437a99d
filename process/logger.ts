import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

/** Returns a logger of JSON lines, with the level by its name and the time in RFC 3339. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: stdTimeFunctions.isoTime,
  };
  return destination ? pino(options, destination) : pino(options);
}
