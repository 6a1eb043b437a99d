import express, { type Express } from 'express';
import type { Logger } from 'pino';
import { CouldNotRun } from '../test-types/kind.ts';
import { type PageLoader, visitSchema } from './page-snapshot.ts';

/**
 * Serves remote-page-loader.ts: POST /look responds with {snapshot}, or with {error} if the page could not be opened.
 */
export function createBrowserApp(loadPage: PageLoader, logger: Logger): Express {
  const app = express();
  app.disable('x-powered-by');
  app.post('/look', express.json({ limit: '64kb' }), async (request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    try {
      response.json({ snapshot: await loadPage(visitSchema.parse(request.body), gone.signal) });
    } catch (error) {
      if (gone.signal.aborted) return;
      logger.warn({ err: error }, 'a page could not be opened');
      const message =
        error instanceof CouldNotRun
          ? error.message
          : 'the browser ended while it loaded the page. Run the tests again';
      response.json({ error: message });
    }
  });
  return app;
}
