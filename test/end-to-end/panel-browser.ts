import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { z } from 'zod';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const violationsSchema = z.array(z.object({ id: z.string(), nodes: z.array(z.string()) }));

/** Chromium with pages of the panel, and everything that went wrong in them. */
export class PanelBrowser {
  readonly faults: string[] = [];
  readonly #browser: Browser;
  readonly #apiUrl: string;

  private constructor(browser: Browser, apiUrl: string) {
    this.#browser = browser;
    this.#apiUrl = apiUrl;
  }

  static async start(apiUrl: string): Promise<PanelBrowser> {
    const args = ['--no-sandbox', '--disable-gpu'];
    return new PanelBrowser(await chromium.launch({ executablePath: '/usr/bin/chromium', args }), apiUrl);
  }

  /** Opens a page in a profile of its own: another user's browser. */
  async open(path: string): Promise<{ page: Page; context: BrowserContext }> {
    const context = await this.#browser.newContext({ baseURL: this.#apiUrl, viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on('pageerror', (error) => this.faults.push(`script: ${error.message}`));
    page.on('dialog', (dialog) => {
      this.faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      // The page shows a refused request; the browser reports it too.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.faults.push(`console: ${message.text()}`);
      }
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (
        url.origin !== new URL(this.#apiUrl).origin &&
        url.protocol.startsWith('http') &&
        request.frame() === page.mainFrame()
      ) {
        this.faults.push(`request to ${url.origin}`);
      }
    });
    await page.goto(path);
    return { page, context };
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

/** Returns what axe-core finds wrong with the page. Its script runs where the content security policy permits nothing. */
export async function axeViolations(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    await session.send('Runtime.evaluate', { expression: axe });
    const run = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations.map(
      ({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html.slice(0, 200)) }))))`;
    const { result } = await session.send('Runtime.evaluate', { expression: run, awaitPromise: true });
    const violations = violationsSchema.parse(JSON.parse(z.string().parse(result.value)));
    return violations.map(({ id, nodes }) => `${page.url()}: ${id}: ${nodes.join(' | ')}`);
  } finally {
    await session.detach();
  }
}
