import type { Logger } from 'pino';

/** Runs `stop` at the first SIGTERM or SIGINT, then ends the process, with exit code 1 if stopping failed. */
export function stopOnSignal(stop: () => Promise<void>, logger: Logger): void {
  const end = (signal: string) => {
    logger.info({ signal }, 'stopping');
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, end);
}
