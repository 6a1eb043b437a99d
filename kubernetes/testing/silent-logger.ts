import { pino } from 'pino';

/** For tests of code that logs. */
export const silentLogger = pino({ level: 'silent' });
