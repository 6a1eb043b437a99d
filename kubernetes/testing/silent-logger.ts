import { pino } from 'pino';

/** A logger for tests that writes nothing. */
export const silentLogger = pino({ level: 'silent' });
