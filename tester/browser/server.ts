import express, { type Express } from 'express';
import type { Logger } from 'pino';
import { CouldNotRun } from '../tests/kind.ts';
import { type Look, visitSchema } from './sight.ts';

/** What remote-look.ts asks: POST /look answers {sight}, or {error} in words where no browser could look. */
export function createBrowserApp(look: Look, logger: Logger): Express {
  const app = express();
  app.disable('x-powered-by');
  app.post('/look', express.json({ limit: '64kb' }), async (request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    try {
      response.json({ sight: await look(visitSchema.parse(request.body), gone.signal) });
    } catch (error) {
      if (gone.signal.aborted) return;
      logger.warn({ err: error }, 'a page could not be opened');
      const message = error instanceof CouldNotRun ? error.message : 'the browser ended while it had the page';
      response.json({ error: message });
    }
  });
  return app;
}
